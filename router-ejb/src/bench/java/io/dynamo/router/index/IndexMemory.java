package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.Random;

/**
 * Heap of an index per block, measured after collections: {@code java … IndexMemory <ranks> <blocks
 * per rank> <ranks that share each block>}.
 */
public final class IndexMemory {
  private static final int CHAIN = 256;

  private IndexMemory() {}

  public static void main(String[] arguments) throws InterruptedException {
    int ranks = Integer.parseInt(arguments[0]);
    int perRank = Integer.parseInt(arguments[1]);
    int sharers = Integer.parseInt(arguments[2]);
    var random = new Random(1);
    long before = used();
    var index = new PrefixTableIndexer();
    for (int first = 0; first < ranks; first += sharers) {
      for (int block = 0; block < perRank; block += CHAIN) {
        var chain = BlockHashes.ofBlocks(random.longs(CHAIN).toArray());
        for (int rank = first; rank < Math.min(ranks, first + sharers); rank++) {
          var _ = index.apply(new WorkerRank(new InstanceId(rank), 0), stored(chain));
        }
      }
    }
    long bytes = used() - before;
    long holdings = (long) ranks * (perRank / CHAIN * CHAIN);
    System.out.printf(
        "%d ranks, %d blocks each, shared by %d: %d prefixes, %.1f MiB, %.0f B per prefix, %.0f B per block held%n",
        ranks,
        perRank,
        sharers,
        index.size(),
        bytes / 1048576.0,
        bytes / (double) index.size(),
        bytes / (double) holdings);
  }

  private static KvEvent stored(BlockHashes chain) {
    var blocks = new ArrayList<StoredBlock>();
    for (int i = 0; i < chain.length(); i++) {
      blocks.add(
          new StoredBlock(new SequenceHash(chain.sequence(i)), new BlockHash(chain.block(i))));
    }
    return new KvEvent.Stored(1, null, blocks);
  }

  private static long used() throws InterruptedException {
    var runtime = Runtime.getRuntime();
    for (int i = 0; i < 4; i++) {
      System.gc();
      Thread.sleep(100);
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
