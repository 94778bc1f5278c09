package io.dynamo.worker.engine.llama;

import io.dynamo.kv.StoredBlock;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.token.SequenceHasher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The KV blocks of one sequence, first to last. Used by the rank's thread only. Full blocks are
 * cached as soon as their tokens are computed; the last block may be partly filled.
 */
final class BlockTable {
  private final BlockPool pool;
  private final int blockTokens;
  private final BlockHasher naming;
  private final SequenceHasher hasher;
  private final List<StoredBlock> names = new ArrayList<>(); // of full blocks, as far as hashed
  private int[] blocks = new int[8];
  private int size; // blocks held
  private int sealed; // how many of the held blocks are cached

  BlockTable(BlockPool pool, BlockHasher hasher) {
    this.pool = pool;
    this.blockTokens = hasher.blockTokens();
    this.naming = hasher;
    this.hasher = new SequenceHasher(hasher);
  }

  static int blocksFor(int tokens, int blockTokens) {
    return (int) (((long) tokens + blockTokens - 1) / blockTokens);
  }

  /** Returns the blocks in order; valid for as many as are held, until the next change. */
  int[] blocks() {
    return blocks;
  }

  /**
   * Holds the leading blocks of the sequence that are cached. At least one token remains to be
   * computed. Only for a table that holds nothing.
   *
   * @return the number of tokens found in the cache
   */
  int reuse(int[] tokens, int length) {
    int most = (length - 1) / blockTokens;
    while (size < most) {
      int block = pool.find(name(tokens, size).hash());
      if (block == BlockPool.NONE) {
        break;
      }
      pool.hold(block);
      push(block);
    }
    sealed = size;
    return size * blockTokens;
  }

  /** Whether the pool has the blocks that {@code count} tokens need. */
  boolean canCover(int count) {
    return blocksFor(count, blockTokens) - size <= pool.available();
  }

  /**
   * Takes the blocks that {@code count} tokens need.
   *
   * @return false when the pool ran out of blocks; the blocks taken so far stay held
   */
  boolean cover(int count) {
    while ((long) size * blockTokens < count) {
      int block = pool.take();
      if (block == BlockPool.NONE) {
        return false;
      }
      push(block);
    }
    return true;
  }

  private void push(int block) {
    if (size == blocks.length) {
      blocks = Arrays.copyOf(blocks, 2 * size);
    }
    blocks[size++] = block;
  }

  /** Caches the blocks that {@code count} computed tokens have filled. */
  void computed(int[] tokens, int count) {
    int until = count / blockTokens;
    int runStart = sealed;
    while (sealed < until) {
      int own = blocks[sealed];
      blocks[sealed] = pool.seal(own, name(tokens, sealed).hash());
      if (blocks[sealed] != own) { // cached by another sequence meanwhile: already reported
        reportRun(runStart, sealed);
        runStart = sealed + 1;
      }
      sealed++;
    }
    reportRun(runStart, until);
  }

  private void reportRun(int from, int to) {
    if (from < to) {
      pool.events().stored(pool.rank(), parentOf(from), List.copyOf(names.subList(from, to)));
    }
  }

  /** Returns the name of full block {@code index}. */
  private StoredBlock name(int[] tokens, int index) {
    while (hasher.length() <= index) {
      hasher.append(tokens[hasher.tokens()]);
    }
    for (int i = names.size(); i <= index; i++) {
      names.add(
          new StoredBlock(new SequenceHash(hasher.sequence(i)), new BlockHash(hasher.block(i))));
    }
    return names.get(index);
  }

  private @Nullable SequenceHash parentOf(int index) {
    return index == 0 ? null : names.get(index - 1).hash();
  }

  /** Releases all blocks, the last first, so that suffixes are evicted before prefixes. */
  void release() {
    while (size > 0) {
      pool.release(blocks[--size]);
    }
    sealed = 0;
  }

  /** Returns a copy of the blocks held, in order. */
  int[] held() {
    return Arrays.copyOf(blocks, size);
  }

  /** Holds the cached leading blocks of {@code all}; only for a table that holds nothing. */
  void holdCached(int[] all) {
    while (size < all.length / blockTokens) {
      int block = pool.find(name(all, size).hash());
      if (block == BlockPool.NONE) {
        break;
      }
      pool.hold(block);
      push(block);
    }
    sealed = size;
  }

  /**
   * Holds the full blocks of {@code other}, too, unless they are named in another scope; only for a
   * table that holds nothing.
   */
  void shareWith(BlockTable other) {
    if (!other.naming.equals(naming)) {
      return; // an adapter's blocks under the names of the model itself would be wrong
    }
    for (int i = 0; i < other.sealed; i++) {
      pool.hold(other.blocks[i]);
      push(other.blocks[i]);
    }
    sealed = size;
  }

  /**
   * Takes a block for each of the first {@code count} full blocks of {@code tokens}, the cached one
   * where there is one, as far as the pool has room; only for a table that holds nothing.
   *
   * @return the places of those that are not cached, whose bytes the caller fills
   */
  int[] takeFor(int[] tokens, int count) {
    var missing = new int[count];
    int absent = 0;
    for (int i = 0; i < count; i++) {
      int block = pool.find(name(tokens, i).hash());
      if (block == BlockPool.NONE) {
        block = pool.take();
        if (block == BlockPool.NONE) {
          break;
        }
        missing[absent++] = i;
      } else {
        pool.hold(block);
      }
      push(block); // held to the end, so that no block is evicted before its suffix
    }
    return Arrays.copyOf(missing, absent);
  }

  /**
   * Caches blocks whose bytes were filled.
   *
   * @return the number of blocks that were not cached by another sequence meanwhile
   */
  int sealFilled(int[] tokens, int[] places) {
    int cached = 0;
    for (int place : places) {
      var name = name(tokens, place);
      int own = blocks[place];
      blocks[place] = pool.seal(own, name.hash());
      if (blocks[place] == own) {
        pool.events().stored(pool.rank(), parentOf(place), List.of(name));
        cached++;
      }
    }
    return cached;
  }
}
