package io.dynamo.router.load;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The newest load report of each rank. What workers report explains decisions and is published; it
 * is no part of a decision, which counts what the router itself has placed. Safe for concurrent
 * use.
 */
public final class ReportedLoads {
  /**
   * A report.
   *
   * @param ageNanos since it came
   */
  public record Reported(ActiveLoad load, long ageNanos) {}

  private record Arrived(ActiveLoad load, long atNanos) {}

  private final LongSupplier nanoClock;
  private final Map<WorkerRank, Arrived> newest = new ConcurrentHashMap<>();

  /**
   * @param nanoClock as {@link System#nanoTime()}
   */
  public ReportedLoads(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Replaces what the rank reported before. */
  public void put(ActiveLoad load) {
    newest.put(load.rank(), new Arrived(load, nanoClock.getAsLong()));
  }

  /** Forgets the ranks of all other workers. */
  public void keep(Set<InstanceId> workers) {
    newest.keySet().removeIf(rank -> !workers.contains(rank.worker()));
  }

  /** Empty when the rank has reported nothing. */
  public Optional<Reported> of(WorkerRank rank) {
    var arrived = newest.get(rank);
    return arrived == null
        ? Optional.empty()
        : Optional.of(new Reported(arrived.load, nanoClock.getAsLong() - arrived.atNanos));
  }

  /** KV blocks in use on all ranks that tell of them. */
  public long usedBlocks() {
    long sum = 0;
    for (var arrived : newest.values()) {
      var blocks = arrived.load.kvUsedBlocks();
      sum += blocks == null ? 0 : blocks;
    }
    return sum;
  }
}
