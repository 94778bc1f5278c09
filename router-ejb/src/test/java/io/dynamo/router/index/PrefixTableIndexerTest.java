package io.dynamo.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PrefixTableIndexerTest extends KvIndexerContract {
  @Override
  KvIndexer newIndexer() {
    return new PrefixTableIndexer();
  }

  private static KvEvent stored(BlockHashes prompt) {
    var blocks = new ArrayList<StoredBlock>();
    for (int i = 0; i < prompt.length(); i++) {
      blocks.add(
          new StoredBlock(new SequenceHash(prompt.sequence(i)), new BlockHash(prompt.block(i))));
    }
    return new KvEvent.Stored(1, null, blocks);
  }

  @Test
  void keepsNothingOfWorkersThatAreGone() {
    var indexer = new PrefixTableIndexer();
    var random = new Random(1);
    for (int worker = 0; worker < 200; worker++) {
      var rank = new WorkerRank(new InstanceId(worker), 0);
      indexer.apply(rank, stored(BlockHashes.ofBlocks(random.longs(50).toArray())));
      indexer.forget(rank.worker());
    }
    assertThat(indexer.size()).isZero();
  }

  @Test
  void sharedPrefixesAreHeldOnce() {
    var indexer = new PrefixTableIndexer();
    for (int worker = 0; worker < 10; worker++) {
      indexer.apply(
          new WorkerRank(new InstanceId(worker), 0),
          stored(BlockHashes.ofBlocks(1, 2, 3, 10 + worker)));
    }
    assertThat(indexer.size()).isEqualTo(3 + 10);
  }

  /** A rank whose blocks stay scores in full while a writer changes others, rebuilds included. */
  @Test
  void readersNeverLoseAResidentPrefixWhileAWriterWorks() throws Exception {
    var indexer = new PrefixTableIndexer();
    var resident = new WorkerRank(new InstanceId(1), 0);
    var prompt = BlockHashes.ofBlocks(new Random(7).longs(64).toArray());
    indexer.apply(resident, stored(prompt));
    var written = new CountDownLatch(1);
    try (var pool = Executors.newFixedThreadPool(2)) {
      var readers = new ArrayList<Future<Integer>>();
      for (int i = 0; i < 2; i++) {
        readers.add(
            pool.submit(
                () -> {
                  int reads = 0;
                  do {
                    if (indexer.match(prompt).blocks(resident) != prompt.length()) {
                      return -1;
                    }
                    reads++;
                  } while (written.getCount() > 0);
                  return reads;
                }));
      }
      try {
        var random = new Random(8);
        for (int round = 0; round < 60; round++) {
          for (int worker = 2; worker < 12; worker++) {
            var rank = new WorkerRank(new InstanceId(worker), 0);
            indexer.apply(rank, stored(prompt));
            indexer.apply(rank, stored(BlockHashes.ofBlocks(random.longs(200).toArray())));
          }
          for (int worker = 2; worker < 12; worker++) {
            indexer.forget(new InstanceId(worker));
          }
        }
      } finally {
        written.countDown();
      }
      for (var reader : readers) {
        assertThat(reader.get(30, TimeUnit.SECONDS)).isPositive();
      }
    }
    assertThat(indexer.size()).isEqualTo(prompt.length());
  }
}
