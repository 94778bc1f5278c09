package io.dynamo.router.load;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides which ranks are busy: those with more than a set share of their capacity in use. A rank
 * that crossed the threshold of blocks stays busy until both of its reported values are below it.
 * Safe for concurrent use.
 */
public final class BusyWorkers {
  /**
   * The tokens per pass that are assumed of a rank that does not report its limit; Dynamo's value.
   */
  public static final long UNKNOWN_BATCH_TOKENS = 10_000_000;

  private volatile RouterSettings.Busy thresholds;
  private final ReportedLoads reports;
  private final ActiveSequences booked;
  private final Set<WorkerRank> latched = ConcurrentHashMap.newKeySet();

  public BusyWorkers(
      RouterSettings.Busy thresholds, ReportedLoads reports, ActiveSequences booked) {
    this.thresholds = thresholds;
    this.reports = reports;
    this.booked = booked;
  }

  public RouterSettings.Busy thresholds() {
    return thresholds;
  }

  /** Replaces the thresholds and forgets which ranks are busy. */
  public void setThresholds(RouterSettings.Busy others) {
    thresholds = others;
    latched.clear();
  }

  /** Whether any threshold is set; without one no rank is ever busy. */
  public boolean isOn() {
    return !thresholds.equals(RouterSettings.Busy.STANDARD);
  }

  /**
   * Whether {@code rank} is too busy for further requests.
   *
   * @param totalBlocks KV blocks of the rank; 0 is not known, and then its blocks are never too
   *     many
   * @param batchTokens tokens that one pass of the rank takes; 0 is not known
   */
  public boolean isBusy(WorkerRank rank, long totalBlocks, long batchTokens) {
    var now = thresholds;
    return hasManyBlocks(rank, totalBlocks, now.decodeBlocks())
        || hasMuchPrefill(rank, batchTokens, now);
  }

  private boolean hasManyBlocks(WorkerRank rank, long totalBlocks, @Nullable Double share) {
    if (share == null || totalBlocks == 0) {
      return false;
    }
    var report = reports.of(rank);
    if (report.isEmpty()) {
      latched.remove(rank);
      return false;
    }
    var load = report.get().load();
    double most = share * totalBlocks;
    if (orZero(load.kvUsedBlocks()) > most || orZero(load.activeDecodeBlocks()) > most) {
      latched.add(rank);
      return true;
    }
    if (orZero(load.kvUsedBlocks()) < most && orZero(load.activeDecodeBlocks()) < most) {
      latched.remove(rank);
    }
    return latched.contains(rank);
  }

  private boolean hasMuchPrefill(WorkerRank rank, long batchTokens, RouterSettings.Busy now) {
    var most = now.prefillTokens();
    var fraction = now.prefillTokensFraction();
    if (most == null && fraction == null) {
      return false;
    }
    long tokens =
        Math.max(
            booked.prefillTokens(rank),
            reports.of(rank).map(it -> orZero(it.load().activePrefillTokens())).orElse(0L));
    return (most != null && tokens > most)
        || (fraction != null
            && tokens > fraction * (batchTokens == 0 ? UNKNOWN_BATCH_TOKENS : batchTokens));
  }

  /** Forgets the ranks of all workers but {@code workers}. */
  public void keep(Set<InstanceId> workers) {
    latched.removeIf(rank -> !workers.contains(rank.worker()));
  }

  private static long orZero(@Nullable Long value) {
    return value == null ? 0 : value;
  }
}
