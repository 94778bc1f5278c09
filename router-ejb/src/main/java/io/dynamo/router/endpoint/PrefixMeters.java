package io.dynamo.router.endpoint;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;

/** Metrics of the cached blocks that requests of one endpoint found. Safe for concurrent use. */
final class PrefixMeters {
  private static final long UNIT = 1_000_000_000; // a timer reports its nanoseconds in seconds

  final OverheadMeters overhead;
  private final Metrics.Counter promptBlocks;
  private final Metrics.Counter overlapBlocks;
  private final Metrics.Counter nonMaxOverlap;
  private final Metrics.Timer blocksLost;
  private final Metrics.Counter bestCached;
  private final Metrics.Counter selectedCached;
  private final Metrics.Counter roomFallbacks;
  private final Metrics metrics;
  private final Metrics.Timer sharedHitRate;
  private final Metrics.Timer sharedBeyond;

  /**
   * Looks up the metrics.
   *
   * @param overhead durations of the router's own work
   */
  PrefixMeters(Metrics metrics, RouterLabels labels, String model, OverheadMeters overhead) {
    this.metrics = metrics;
    this.overhead = overhead;
    this.promptBlocks = metrics.counter(RouterMetrics.PROMPT_BLOCKS);
    this.overlapBlocks = metrics.counter(RouterMetrics.OVERLAP_BLOCKS);
    var phase = new Label("worker_type", "prefill"); // the phase that an overlap shortens
    this.nonMaxOverlap =
        metrics.counter(RouterMetrics.NON_MAX_OVERLAP_SELECTIONS, labels.of(phase));
    this.blocksLost = metrics.timer(RouterMetrics.OVERLAP_BLOCKS_LOST, labels.of(phase));
    this.bestCached = metrics.counter(RouterMetrics.BEST_CACHED_TOKENS, labels.ofModel(model));
    this.selectedCached =
        metrics.counter(RouterMetrics.SELECTED_CACHED_TOKENS, labels.ofModel(model));
    this.roomFallbacks = metrics.counter(RouterMetrics.ROOM_FALLBACKS);
    this.sharedHitRate = metrics.timer(RouterMetrics.SHARED_CACHE_HIT_RATE, labels.of());
    this.sharedBeyond = metrics.timer(RouterMetrics.SHARED_CACHE_BEYOND_BLOCKS, labels.of());
  }

  /**
   * Counts the blocks of a placed prompt.
   *
   * @param promptLength blocks of the prompt
   * @param best leading blocks that the best candidate has
   * @param selected leading blocks that the chosen rank has
   * @param blockTokens tokens per block
   */
  void countOverlap(int promptLength, int best, int selected, int blockTokens) {
    promptBlocks.add(promptLength);
    overlapBlocks.add(selected);
    bestCached.add((long) best * blockTokens);
    selectedCached.add((long) selected * blockTokens);
    if (selected < best) {
      nonMaxOverlap.increment();
      blocksLost.record((best - selected) * UNIT);
    }
  }

  /**
   * Counts the blocks of a placed prompt that the shared cache has.
   *
   * @param promptLength blocks of the prompt
   * @param total blocks of the prompt that the shared cache has
   * @param beyond those of them that follow the blocks of the chosen rank
   */
  void countShared(int promptLength, int total, int beyond) {
    if (promptLength > 0) {
      sharedHitRate.record((long) (total * (double) UNIT / promptLength));
    }
    sharedBeyond.record(beyond * UNIT);
  }

  void countRoomFallback() {
    roomFallbacks.increment();
  }

  /** Returns the counter of evicted blocks, which is published from now on. */
  Metrics.Counter roomEvictions() {
    return metrics.counter(RouterMetrics.ROOM_EVICTED_BLOCKS);
  }
}
