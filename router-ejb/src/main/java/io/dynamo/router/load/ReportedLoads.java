package io.dynamo.router.load;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The newest load report of each rank. What workers report may make them busy, explains decisions
 * and is published; costs count what the router itself has placed. Safe for concurrent use.
 */
public final class ReportedLoads {
  /**
   * A report.
   *
   * @param ageNanos since it came
   */
  public record Reported(ActiveLoad load, long ageNanos) {}

  private record Arrived(ActiveLoad load, long atNanos) {}

  private final long believedNanos;
  private final LongSupplier nanoClock;
  private final Map<WorkerRank, Arrived> newest = new ConcurrentHashMap<>();

  /**
   * @param believed after which a report says nothing any more, should no other follow it
   * @param nanoClock as {@link System#nanoTime()}
   */
  public ReportedLoads(Duration believed, LongSupplier nanoClock) {
    this.believedNanos = believed.toNanos();
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

  /** Empty when the rank has reported nothing of late. */
  public Optional<Reported> of(WorkerRank rank) {
    var arrived = newest.get(rank);
    if (arrived == null) {
      return Optional.empty();
    }
    long age = nanoClock.getAsLong() - arrived.atNanos;
    return age < believedNanos ? Optional.of(new Reported(arrived.load, age)) : Optional.empty();
  }

  /**
   * Puts the newest report of {@code rank} into {@code loads} at {@code i}, or null, and the
   * nanoseconds since it came into {@code ages}. Allocates nothing.
   */
  public void read(WorkerRank rank, int i, @Nullable ActiveLoad[] loads, long[] ages) {
    var arrived = newest.get(rank);
    long age = arrived == null ? 0 : nanoClock.getAsLong() - arrived.atNanos;
    loads[i] = arrived == null || age >= believedNanos ? null : arrived.load;
    ages[i] = age;
  }

  /** KV blocks in use on all ranks that tell of them. */
  public long usedBlocks() {
    long now = nanoClock.getAsLong();
    long sum = 0;
    for (var arrived : newest.values()) {
      var blocks = arrived.load.kvUsedBlocks();
      sum += blocks == null || now - arrived.atNanos >= believedNanos ? 0 : blocks;
    }
    return sum;
  }
}
