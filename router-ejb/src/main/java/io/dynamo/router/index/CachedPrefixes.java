package io.dynamo.router.index;

import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.util.List;

/** Looks up which prefix blocks each rank has reported as cached. Safe for concurrent use. */
public interface CachedPrefixes extends AutoCloseable {
  /** The leading blocks of one prompt that each rank holds. For one thread. */
  interface Found {
    /** Nobody holds anything. */
    Found NOTHING =
        new Found() {
          @Override
          public int onDevice(WorkerRank rank) {
            return 0;
          }

          @Override
          public void extend(List<WorkerRank> ranks, int[] host, int[] disk) {} // by nothing
        };

    /** Leading blocks on the device of {@code rank}. */
    int onDevice(WorkerRank rank);

    /**
     * Counts for each of {@code ranks} the blocks that follow those on its device.
     *
     * @param host takes blocks in host memory, in the order of {@code ranks}
     * @param disk takes blocks on disk and farther away
     */
    void extend(List<WorkerRank> ranks, int[] host, int[] disk);
  }

  /** Nothing is known, ever. */
  CachedPrefixes NONE =
      new CachedPrefixes() {
        @Override
        public Found find(BlockHashes prompt) {
          return Found.NOTHING;
        }

        @Override
        public int size() {
          return 0;
        }

        @Override
        public void close() {} // holds nothing
      };

  /** Looks {@code prompt} up, as of now; may wait for a bounded time. */
  Found find(BlockHashes prompt);

  /** Distinct blocks that are known here; recent. */
  int size();

  @Override
  void close();
}
