package io.dynamo.worker.engine.mock;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The KV blocks of one sequence, first to last. Used by the rank's thread only. Full blocks are
 * cached as soon as a pass that computes their tokens is planned.
 */
final class SequenceBlocks {
  private final int rank;
  private final PagedKvCache cache;
  private final BlockHashing hashing;
  private final KvEventSink events;
  private final int blockTokens;
  private final boolean caching;
  private final int[] blocks; // as many as the sequence can ever need
  private final List<StoredBlock> names = new ArrayList<>(); // of full blocks, as far as hashed
  private int found; // cached blocks at the last look-up
  private int size; // blocks held
  private int full; // how many of the held blocks are cached

  /**
   * @param caching whether blocks are found in the cache and put there
   */
  SequenceBlocks(
      int rank,
      PagedKvCache cache,
      BlockHashing hashing,
      KvEventSink events,
      int blockTokens,
      boolean caching,
      int maxTokens) {
    this.rank = rank;
    this.cache = cache;
    this.hashing = hashing;
    this.events = events;
    this.blockTokens = blockTokens;
    this.caching = caching;
    this.blocks = new int[blocksFor(maxTokens)];
  }

  private int blocksFor(int tokens) {
    return (int) (((long) tokens + blockTokens - 1) / blockTokens);
  }

  /**
   * Looks up how many leading blocks are cached; at least one token remains to be computed.
   *
   * @return how many of those blocks other sequences hold
   */
  int findCached(int[] tokens, int length) {
    int active = 0;
    found = 0;
    int reusable = caching ? (length - 1) / blockTokens : 0;
    while (found < reusable) {
      int block = cache.find(name(tokens, found).hash());
      if (block == PagedKvCache.NONE) {
        break;
      }
      active += cache.isHeld(block) ? 1 : 0;
      blocks[found++] = block;
    }
    return active;
  }

  /** Returns the number of tokens in the blocks that {@link #findCached} finds. */
  int cachedTokens(int[] tokens, int length) {
    findCached(tokens, length);
    return found * blockTokens;
  }

  /**
   * Holds blocks for {@code count} tokens.
   *
   * @param fresh whether nothing is held yet, so that the cached blocks found are held first
   * @return false when there are too few blocks; nothing has changed then
   * @throws EngineFailedException when a cached block's checksum does not match; the block is
   *     dropped
   */
  boolean cover(boolean fresh, int count) {
    int reused = fresh ? found : 0;
    int idle = 0;
    for (int i = 0; i < reused; i++) {
      idle += cache.isHeld(blocks[i]) ? 0 : 1;
    }
    int more = blocksFor(count) - size - reused;
    if (more > cache.available() - idle) {
      return false;
    }
    for (int i = 0; i < reused; i++) {
      requireIntact(i);
    }
    for (int i = 0; i < reused; i++) {
      cache.hold(blocks[i]);
    }
    size += reused;
    full += reused;
    for (int i = 0; i < more; i++) {
      blocks[size++] = cache.take();
    }
    return true;
  }

  private void requireIntact(int index) {
    if (!cache.checkIntact(blocks[index])) {
      throw new EngineFailedException(
          ErrorCode.BACKEND_UNKNOWN,
          "KV block %d of rank %d (sequence hash %s) does not match its checksum; it was dropped"
              .formatted(blocks[index], rank, names.get(index).hash()),
          null);
    }
  }

  private StoredBlock name(int[] tokens, int index) {
    for (int i = names.size(); i <= index; i++) {
      BlockHash content = hashing.block(tokens, i * blockTokens, blockTokens);
      names.add(new StoredBlock(hashing.sequence(parentOf(i), content), content));
    }
    return names.get(index);
  }

  private @Nullable SequenceHash parentOf(int index) {
    return index == 0 ? null : names.get(index - 1).hash();
  }

  /** Caches the blocks that are full after {@code count} computed tokens. */
  void computed(int[] tokens, int count) {
    int until = caching ? count / blockTokens : 0;
    int runStart = full;
    while (full < until) {
      var name = name(tokens, full).hash();
      if (!cache.cache(blocks[full], name, tokens, full * blockTokens, blockTokens)) {
        reportRun(runStart, full); // a block of that name was reported already
        runStart = full + 1;
      }
      full++;
    }
    reportRun(runStart, full);
  }

  private void reportRun(int from, int to) {
    if (from < to) {
      events.stored(rank, parentOf(from), List.copyOf(names.subList(from, to)));
    }
  }

  /** Releases all blocks, the last first, so that suffixes are evicted before prefixes. */
  void release() {
    for (int i = size - 1; i >= 0; i--) {
      cache.release(blocks[i]);
    }
    size = 0;
    full = 0;
  }
}
