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
 * cached as soon as their tokens are computed.
 */
final class SequenceBlocks {
  /** The answer of {@link #claim} when the rank has too few blocks for now. */
  static final int NO_ROOM = -1;

  private final int rank;
  private final PagedKvCache cache;
  private final BlockHashing hashing;
  private final KvEventSink events;
  private final int blockTokens;
  private final int[] blocks; // as many as the sequence can ever need
  private final List<StoredBlock> names = new ArrayList<>(); // of full blocks, as far as known
  private int size; // blocks held
  private int full; // those of them that are cached
  private boolean claimed;

  SequenceBlocks(
      int rank,
      PagedKvCache cache,
      BlockHashing hashing,
      KvEventSink events,
      int blockTokens,
      int maxTokens) {
    this.rank = rank;
    this.cache = cache;
    this.hashing = hashing;
    this.events = events;
    this.blockTokens = blockTokens;
    this.blocks = new int[blocksFor(maxTokens)];
  }

  private int blocksFor(int tokens) {
    return (int) (((long) tokens + blockTokens - 1) / blockTokens);
  }

  /**
   * Holds what the cache has of the prompt and sets aside what the sequence can still need. At
   * least one prompt token stays to be computed.
   *
   * @return prompt tokens found in the cache, or {@link #NO_ROOM}
   * @throws EngineFailedException when a cached block has lost its bytes; it is dropped
   */
  int claim(int[] tokens, int promptTokens) {
    int reusable = (promptTokens - 1) / blockTokens;
    int found = 0;
    int shared = 0;
    while (found < reusable) {
      int block = cache.find(name(tokens, found).hash());
      if (block == PagedKvCache.NONE) {
        break;
      }
      if (cache.isHeld(block)) {
        shared++;
      }
      blocks[found++] = block;
    }
    if (blocks.length - shared > cache.available()) {
      return NO_ROOM;
    }
    for (int i = 0; i < found; i++) {
      if (!cache.checkIntact(blocks[i])) {
        throw new EngineFailedException(
            ErrorCode.BACKEND_UNKNOWN,
            "KV block %d of rank %d (sequence hash %s) does not match its checksum; it was dropped"
                .formatted(blocks[i], rank, name(tokens, i).hash()),
            null);
      }
    }
    for (int i = 0; i < found; i++) {
      cache.hold(blocks[i]);
    }
    size = found;
    full = found;
    cache.promise(blocks.length - found);
    claimed = true;
    return found * blockTokens;
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

  /** Takes the blocks that {@code count} computed tokens need and caches those that are full. */
  void computed(int[] tokens, int count) {
    while ((long) size * blockTokens < count) {
      blocks[size] = cache.take();
      size++;
    }
    if (count / blockTokens > full) {
      cacheFull(tokens, count / blockTokens);
    }
  }

  private void cacheFull(int[] tokens, int until) {
    int runStart = full;
    while (full < until) {
      int own = blocks[full];
      blocks[full] =
          cache.cache(own, name(tokens, full).hash(), tokens, full * blockTokens, blockTokens);
      if (blocks[full] != own) { // cached by another sequence meanwhile: told already
        tell(runStart, full);
        runStart = full + 1;
      }
      full++;
    }
    tell(runStart, until);
  }

  private void tell(int from, int to) {
    if (from < to) {
      events.stored(rank, parentOf(from), List.copyOf(names.subList(from, to)));
    }
  }

  /** Gives everything back, the last block first, so that suffixes are evicted before prefixes. */
  void release() {
    if (!claimed) {
      return;
    }
    claimed = false;
    cache.takeBack(blocks.length - size);
    for (int i = size - 1; i >= 0; i--) {
      cache.release(blocks[i]);
    }
    size = 0;
  }
}
