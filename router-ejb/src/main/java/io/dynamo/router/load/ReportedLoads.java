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
 * The newest load report of each rank. Reports can make workers busy, explain decisions and are
 * published; costs use only the load that the router itself has placed. Safe for concurrent use.
 */
public final class ReportedLoads {
  /**
   * A load report with its age.
   *
   * @param ageNanos nanoseconds since the report arrived
   */
  public record Reported(ActiveLoad load, long ageNanos) {}

  private record Arrived(ActiveLoad load, long atNanos) {}

  private final long believedNanos;
  private final LongSupplier nanoClock;
  private final Map<WorkerRank, Arrived> newest = new ConcurrentHashMap<>();

  /**
   * Creates an empty table.
   *
   * @param believed the age at which a report becomes invalid, unless another follows it
   * @param nanoClock as {@link System#nanoTime()}
   */
  public ReportedLoads(Duration believed, LongSupplier nanoClock) {
    this.believedNanos = believed.toNanos();
    this.nanoClock = nanoClock;
  }

  /** Replaces the earlier report of the rank. */
  public void put(ActiveLoad load) {
    newest.put(load.rank(), new Arrived(load, nanoClock.getAsLong()));
  }

  /** Forgets the ranks of all workers but {@code workers}. */
  public void keep(Set<InstanceId> workers) {
    newest.keySet().removeIf(rank -> !workers.contains(rank.worker()));
  }

  /** Returns the newest valid report of {@code rank}; empty when there is none. */
  public Optional<Reported> of(WorkerRank rank) {
    var arrived = newest.get(rank);
    if (arrived == null) {
      return Optional.empty();
    }
    long age = nanoClock.getAsLong() - arrived.atNanos;
    return age < believedNanos ? Optional.of(new Reported(arrived.load, age)) : Optional.empty();
  }

  /**
   * Puts the newest valid report of {@code rank} into {@code loads} at {@code i}, or null, and the
   * nanoseconds since it came into {@code ages}. Allocates nothing.
   */
  public void read(WorkerRank rank, int i, @Nullable ActiveLoad[] loads, long[] ages) {
    var arrived = newest.get(rank);
    long age = arrived == null ? 0 : nanoClock.getAsLong() - arrived.atNanos;
    loads[i] = arrived == null || age >= believedNanos ? null : arrived.load;
    ages[i] = age;
  }

  /** Returns the sum of the KV blocks in use on all ranks whose valid reports contain them. */
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
