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
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** One match on a warm index, and one store with its removal. */
@NullUnmarked // JMH fills the fields before it measures
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class KvIndexerBenchmark {
  private static final int BLOCK_TOKENS = 16;
  private static final int PROMPTS = 256;

  @Param({"8", "64", "512"})
  int workers;

  @Param({"1000", "32000"})
  int islTokens;

  private final KvIndexer index = new PrefixTableIndexer();
  private final BlockHashes[] prompts = new BlockHashes[PROMPTS];
  private KvEvent stored;
  private KvEvent removed;
  private WorkerRank writer;
  private int next;

  /** Prompts share their first half; each is held by a random half of the workers. */
  @Setup
  public void fill() {
    var random = new Random(1);
    int length = islTokens / BLOCK_TOKENS;
    var shared = random.longs(length / 2).toArray();
    for (int i = 0; i < PROMPTS; i++) {
      var blocks = random.longs(length).toArray();
      System.arraycopy(shared, 0, blocks, 0, shared.length);
      prompts[i] = BlockHashes.ofBlocks(blocks);
    }
    for (int worker = 0; worker < workers; worker++) {
      var rank = new WorkerRank(new InstanceId(worker), 0);
      for (int i = 0; i < 4; i++) {
        index.apply(rank, stored(prompts[random.nextInt(PROMPTS)]));
      }
    }
    writer = new WorkerRank(new InstanceId(workers), 0);
    var fresh = BlockHashes.ofBlocks(random.longs(length).toArray());
    stored = stored(fresh);
    removed =
        new KvEvent.Removed(
            2,
            ((KvEvent.Stored) stored).blocks().stream().map(StoredBlock::hash).toList().reversed());
  }

  private static KvEvent stored(BlockHashes prompt) {
    var blocks = new ArrayList<StoredBlock>();
    for (int i = 0; i < prompt.length(); i++) {
      blocks.add(
          new StoredBlock(new SequenceHash(prompt.sequence(i)), new BlockHash(prompt.block(i))));
    }
    return new KvEvent.Stored(1, null, blocks);
  }

  @Benchmark
  public OverlapScores match() {
    return index.match(prompts[next++ & (PROMPTS - 1)]);
  }

  @Benchmark
  public KvIndexer.Outcome storeAndRemove() {
    index.apply(writer, stored);
    return index.apply(writer, removed);
  }
}
