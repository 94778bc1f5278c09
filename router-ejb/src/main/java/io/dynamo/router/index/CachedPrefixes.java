package io.dynamo.router.index;

import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.util.List;

/** Looks up which prefix blocks each rank has reported as cached. Safe for concurrent use. */
public interface CachedPrefixes extends AutoCloseable {
  /** The leading blocks of one prompt that each rank has cached. For one thread. */
  interface PrefixMatches {
    /** The result when no rank has a block cached. */
    PrefixMatches NOTHING =
        new PrefixMatches() {
          @Override
          public int onDevice(WorkerRank rank) {
            return 0;
          }

          @Override
          public void extend(List<WorkerRank> ranks, int[] host, int[] disk) {} // adds nothing
        };

    /** Returns the number of leading blocks on the device of {@code rank}. */
    int onDevice(WorkerRank rank);

    /**
     * Counts for each of {@code ranks} the blocks that follow those on its device.
     *
     * @param host receives the number of blocks in host memory, in the order of {@code ranks}
     * @param disk receives the number of blocks on disk and farther tiers
     */
    void extend(List<WorkerRank> ranks, int[] host, int[] disk);
  }

  /** An index that is always empty. */
  CachedPrefixes NONE =
      new CachedPrefixes() {
        @Override
        public PrefixMatches find(BlockHashes prompt) {
          return PrefixMatches.NOTHING;
        }

        @Override
        public int size() {
          return 0;
        }

        @Override
        public void close() {} // nothing to release
      };

  /** Looks up {@code prompt} in the present state; may wait for a bounded time. */
  PrefixMatches find(BlockHashes prompt);

  /** Returns the number of distinct blocks in this index; may lag. */
  int size();

  @Override
  void close();
}
