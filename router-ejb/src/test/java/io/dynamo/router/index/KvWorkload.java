package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Seeded sequences of changes and queries, with the mistakes that real engines make. */
final class KvWorkload {
  /** One change to an index, and a query to make after it. */
  sealed interface Step {
    BlockHashes probe();

    record Event(WorkerRank rank, KvEvent event, BlockHashes probe) implements Step {}

    record Forget(InstanceId worker, BlockHashes probe) implements Step {}
  }

  private static final int CONTENTS = 4; // so few that prefixes are shared
  private static final int LONGEST = 8;

  private final Random random;
  private final int workers;

  private KvWorkload(long seed, int workers) {
    this.random = new Random(seed);
    this.workers = workers;
  }

  static List<Step> random(long seed, int steps, int workers) {
    var workload = new KvWorkload(seed, workers);
    var all = new ArrayList<Step>();
    for (int i = 0; i < steps; i++) {
      all.add(workload.step(i + 1));
    }
    return all;
  }

  private Step step(long id) {
    var rank = new WorkerRank(new InstanceId(1 + random.nextInt(workers)), random.nextInt(2));
    int kind = random.nextInt(1000);
    if (kind < 4) {
      return new Step.Forget(rank.worker(), prompt());
    }
    if (kind < 12) {
      return new Step.Event(rank, new KvEvent.Cleared(id), prompt());
    }
    return new Step.Event(rank, kind < 700 ? stored(id, rank) : removed(id, rank), prompt());
  }

  private BlockHashes prompt() {
    return BlockHashes.ofBlocks(
        random.longs(random.nextInt(LONGEST + 1), 1, CONTENTS + 1).toArray());
  }

  /**
   * Returns the engine's name of a block. Engines name blocks in different ways; worker 1 has two
   * names for the same content.
   */
  private SequenceHash name(WorkerRank rank, long sequence) {
    long dialect = rank.worker().value() == 1 ? random.nextInt(2) : rank.worker().value() % 3;
    return new SequenceHash(sequence ^ dialect);
  }

  private KvEvent stored(long id, WorkerRank rank) {
    var prompt = prompt();
    int from = prompt.length() == 0 || random.nextBoolean() ? 0 : random.nextInt(prompt.length());
    var blocks = new ArrayList<StoredBlock>();
    for (int i = from; i < prompt.length(); i++) {
      blocks.add(new StoredBlock(name(rank, prompt.sequence(i)), new BlockHash(prompt.block(i))));
    }
    var parent = from == 0 ? null : name(rank, prompt.sequence(from - 1));
    return new KvEvent.Stored(id, parent, blocks);
  }

  private KvEvent removed(long id, WorkerRank rank) {
    var prompt = prompt();
    var names = new ArrayList<SequenceHash>();
    for (int i = prompt.length() - 1; i >= 0 && random.nextInt(3) > 0; i--) {
      names.add(name(rank, prompt.sequence(i)));
    }
    return new KvEvent.Removed(id, names);
  }
}
