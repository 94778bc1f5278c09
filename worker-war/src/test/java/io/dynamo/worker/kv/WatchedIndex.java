package io.dynamo.worker.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.index.KvIndexer;
import io.dynamo.router.index.LowerTierIndexer;
import io.dynamo.router.index.OverlapScores;
import io.dynamo.router.index.TieredIndexer;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A router's index that a test can wait for. Safe for concurrent use. */
final class WatchedIndex implements KvIndexer, LowerTierIndexer {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final TieredIndexer index = new TieredIndexer();

  @Override
  public OverlapScores match(BlockHashes request) {
    return index.match(request);
  }

  @Override
  public synchronized Outcome apply(WorkerRank rank, KvEvent event) {
    var outcome = index.apply(rank, event);
    notifyAll();
    return outcome;
  }

  @Override
  public synchronized void apply(WorkerRank rank, StorageTier tier, KvEvent event) {
    index.apply(rank, tier, event);
    notifyAll();
  }

  @Override
  public synchronized void forget(InstanceId worker) {
    index.forget(worker);
    notifyAll();
  }

  /**
   * Returns the number of leading blocks of the sequence with these contents that the rank holds.
   */
  int held(WorkerRank rank, long... contents) {
    return match(BlockHashes.ofBlocks(contents)).blocks(rank);
  }

  /**
   * Returns the number of blocks in host memory, and that farther away, that follow those on the
   * device.
   */
  List<Integer> below(WorkerRank rank, long... contents) {
    var request = BlockHashes.ofBlocks(contents);
    var host = new int[1];
    var disk = new int[1];
    index.extend(request, index.match(request), List.of(rank), host, disk);
    return List.of(host[0], disk[0]);
  }

  /** Returns when {@code condition} holds; fails when it does not within 20 s. */
  void await(BooleanSupplier condition) throws InterruptedException {
    if (!await(condition, PATIENCE)) {
      throw new AssertionError("it has not come true within " + PATIENCE);
    }
  }

  /** Whether {@code condition} came true in that time; it is checked after each event. */
  synchronized boolean await(BooleanSupplier condition, Duration patience)
      throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (!condition.getAsBoolean()) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      wait(left / 1_000_000 + 1);
    }
    return true;
  }
}
