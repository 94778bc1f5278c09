package io.dynamo.metrics;

/**
 * The metrics of a worker beside {@link EndpointMetrics}; Dynamo's names where the meaning is the
 * same.
 */
public final class WorkerMetrics {
  public static final MetricName TOTAL_BLOCKS =
      new MetricName("dynamo_component_total_blocks", "KV blocks of a rank.");
  public static final MetricName CACHE_USAGE =
      new MetricName(
          "dynamo_component_gpu_cache_usage_percent",
          "Share of a rank's KV blocks that generations hold, from 0 to 1.");
  public static final MetricName CACHE_HIT_RATE =
      new MetricName(
          "dynamo_component_kv_cache_hit_rate",
          "Share of prompt tokens found in the KV cache; NaN before the first prompt.");
  public static final MetricName MODEL_LOAD_TIME =
      new MetricName(
          "dynamo_component_model_load_time_seconds",
          "Time that the latest engine took to be made, its weights with it, and to start.");
  public static final MetricName DRAIN_TIME =
      new MetricName(
          "dynamo_component_drain_time_seconds",
          "Time that the drain waited for running streams; 0 before.");
  public static final MetricName CLEANUP_TIME =
      new MetricName(
          "dynamo_component_cleanup_time_seconds",
          "Time that the engine took to give back what it held at the end; 0 before.");
  public static final MetricName RUNNING =
      new MetricName("dynamo_worker_running_requests", "Generations that hold a slot of a rank.");
  public static final MetricName WAITING =
      new MetricName("dynamo_worker_waiting_requests", "Generations that wait for a slot.");
  public static final MetricName DECODE_BLOCKS =
      new MetricName("dynamo_worker_active_decode_blocks", "KV blocks that generations hold.");
  public static final MetricName PREFILL_TOKENS =
      new MetricName("dynamo_worker_active_prefill_tokens", "Prompt tokens being prefilled.");
  public static final MetricName CACHED_BLOCKS =
      new MetricName("dynamo_worker_cached_blocks", "KV blocks that a new prompt could reuse.");
  public static final MetricName CORRUPT_BLOCKS =
      new MetricName(
          "dynamo_worker_corrupt_blocks", "Cached KV blocks found damaged and dropped, ever.");
  public static final MetricName KV_EVENTS_DROPPED =
      new MetricName(
          "dynamo_component_kv_publisher_engines_dropped_events_total",
          "KV events that were not published because too many waited or publishing failed");
  public static final MetricName PREFILL_MARKS_DROPPED =
      new MetricName(
          "dynamo_worker_prefill_marks_dropped_total",
          "First tokens that were not reported to routers: too many waited, or publishing failed.");
  public static final MetricName FORWARD_PASSES_DROPPED =
      new MetricName(
          "dynamo_worker_forward_passes_dropped_total",
          "Forward passes that were not reported to planners: too many waited, or publishing"
              + " failed.");
  public static final MetricName MOVED_TOKENS_IN =
      new MetricName(
          "dynamo_worker_migration_saved_tokens_total",
          "Tokens that need not be computed again, because a worker that drains sent their KV"
              + " blocks.");
  public static final MetricName MOVED_TOKENS_OUT =
      new MetricName(
          "dynamo_worker_migration_sent_tokens_total",
          "Tokens whose KV blocks a drain sent to other workers.");
  public static final MetricName MOVES_FAILED =
      new MetricName(
          "dynamo_worker_migration_failed_moves_total",
          "Generations whose KV blocks a drain could not send; another worker computes them"
              + " again.");

  private WorkerMetrics() {}
}
