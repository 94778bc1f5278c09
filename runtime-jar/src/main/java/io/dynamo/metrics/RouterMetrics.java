package io.dynamo.metrics;

/** The metrics of the router; Dynamo's names where the meaning is the same. */
public final class RouterMetrics {
  private static final double[] COMPUTE = {
    0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096,
    8.192, 16.384
  }; // ms
  private static final double[] WAITING = {
    0.01,
    0.03,
    0.09,
    0.27,
    0.81,
    2.43,
    7.290000000000001,
    21.870000000000005,
    65.61000000000001,
    196.83000000000004,
    590.4900000000001,
    1771.4700000000003,
    5314.410000000001,
    15943.230000000003,
    47829.69000000001,
    143489.07000000004,
    430467.2100000001
  }; // ms

  private static final double[] SHARES = {
    0,
    0.05,
    0.1,
    0.15000000000000002,
    0.2,
    0.25,
    0.30000000000000004,
    0.35000000000000003,
    0.4,
    0.45,
    0.5,
    0.55,
    0.6000000000000001,
    0.65,
    0.7000000000000001,
    0.75,
    0.8,
    0.8500000000000001,
    0.9,
    0.9500000000000001,
    1
  };

  public static final MetricName EVENTS_APPLIED =
      new MetricName(
          "dynamo_component_kv_cache_events_applied",
          "KV events handed to the index, by event type and what became of them.");
  public static final MetricName EVENTS_DROPPED =
      new MetricName(
          "dynamo_router_events_dropped_total",
          "KV events that did not reach the index, by reason.");
  public static final MetricName EVENT_GAPS =
      new MetricName(
          "dynamo_router_event_gaps_total", "Times that events of a rank were lost on their way.");
  public static final MetricName EVENTS_BUFFERED =
      new MetricName(
          "dynamo_router_events_buffered_total",
          "KV events that were kept while their rank was asked for what was lost.");
  public static final MetricName RECOVERIES =
      new MetricName(
          "dynamo_router_recoveries_total",
          "Times that a rank was asked for its KV events, by how it ended.");
  public static final MetricName RESTORED_BLOCKS =
      new MetricName(
          "dynamo_router_restored_blocks_total",
          "KV blocks that were known from stored events without asking their rank.");
  public static final MetricName RESTORED_RANKS =
      new MetricName(
          "dynamo_router_restored_ranks_total",
          "Ranks that were looked for among the stored events, by whether all of their blocks were"
              + " known.");
  public static final MetricName SNAPSHOTS =
      new MetricName(
          "dynamo_router_snapshots_total",
          "Snapshots of stored KV events that this router wrote, by how it ended.");
  public static final MetricName INDEX_BLOCKS =
      new MetricName("dynamo_router_index_blocks", "Distinct KV blocks that the index knows.");
  public static final MetricName ACTIVE_REQUESTS =
      new MetricName(
          "dynamo_router_active_requests",
          "Requests placed and not freed, by this router and by those that tell it.");
  public static final MetricName DECISIONS =
      new MetricName("dynamo_router_decisions_total", "Requests placed, by mode.");
  public static final MetricName DECISION_SECONDS =
      new MetricName("dynamo_router_decision_seconds", "Time from a prompt to its rank.");
  public static final MetricName PROMPT_BLOCKS =
      new MetricName("dynamo_router_prompt_blocks_total", "Complete KV blocks of prompts placed.");
  public static final MetricName OVERLAP_BLOCKS =
      new MetricName(
          "dynamo_router_overlap_blocks_total",
          "Prompt blocks that the chosen rank was believed to hold.");
  public static final MetricName NON_MAX_OVERLAP_SELECTIONS =
      new MetricName(
          "dynamo_component_router_non_max_overlap_selections_total",
          "Decisions that passed over a rank with more of the prompt cached.");
  public static final MetricName REMOTE_INDEX_FAILURES =
      new MetricName(
          "dynamo_component_router_remote_indexer_query_failures_total",
          "Questions to another router's index that it has not answered.");
  public static final MetricName LOAD_REPORTS_DROPPED =
      new MetricName(
          "dynamo_router_load_reports_dropped_total",
          "Load reports of workers that were not kept, by reason.");
  public static final MetricName REPORTED_USED_BLOCKS =
      new MetricName(
          "dynamo_router_reported_used_blocks",
          "KV blocks in use on all ranks of an endpoint, as its workers report.");
  public static final MetricName REQUESTS_STARTED =
      new MetricName(
          "dynamo_component_router_requests_started_total", "Requests that asked for a worker.");
  public static final MetricName REQUESTS =
      new MetricName(
          "dynamo_component_router_requests_total", "Requests that were placed and have ended.");
  public static final MetricName TIME_TO_FIRST_TOKEN =
      MetricName.histogram(
          "dynamo_component_router_time_to_first_token_seconds",
          "From a request's arrival at the router to its first token.",
          0,
          0.0022,
          0.0047,
          0.01,
          0.022,
          0.047,
          0.1,
          0.22,
          0.47,
          1,
          2.2,
          4.7,
          10,
          22,
          48,
          100,
          220,
          480);
  public static final MetricName INTER_TOKEN_LATENCY =
      MetricName.histogram(
          "dynamo_component_router_inter_token_latency_seconds",
          "Between the tokens of a request.",
          0,
          0.0019,
          0.0035,
          0.0067,
          0.013,
          0.024,
          0.045,
          0.084,
          0.16,
          0.3,
          0.56,
          1.1,
          2);
  public static final MetricName INPUT_TOKENS =
      MetricName.histogram(
          "dynamo_component_router_input_sequence_tokens",
          "Tokens of prompts placed.",
          0,
          100,
          210,
          430,
          870,
          1800,
          3600,
          7400,
          15000,
          31000,
          63000,
          130000);
  public static final MetricName OUTPUT_TOKENS =
      MetricName.histogram(
          "dynamo_component_router_output_sequence_tokens",
          "Tokens generated for requests that have ended.",
          0,
          100,
          210,
          430,
          880,
          1800,
          3700,
          7600,
          16000,
          32000);
  public static final MetricName KV_HIT_RATE =
      MetricName.histogram(
          "dynamo_component_router_kv_hit_rate",
          "Share of a prompt's blocks that the chosen rank was believed to hold.",
          SHARES);
  public static final MetricName SHARED_CACHE_HIT_RATE =
      MetricName.histogram(
          "dynamo_component_router_shared_cache_hit_rate",
          "Share of a prompt's blocks that the cache that workers share was believed to hold.",
          SHARES);
  public static final MetricName SHARED_CACHE_BEYOND_BLOCKS =
      MetricName.histogram(
          "dynamo_component_router_shared_cache_beyond_blocks",
          "Blocks of a prompt there that follow those on the chosen rank's device.",
          1,
          2,
          4,
          8,
          16,
          32,
          64,
          128,
          256,
          512,
          1024,
          2048);
  public static final MetricName SHARED_CACHE_ERRORS =
      new MetricName(
          "dynamo_router_shared_cache_errors_total",
          "Messages about the cache that workers share which were lost or could not be read.");
  public static final MetricName OVERLAP_BLOCKS_LOST =
      MetricName.histogram(
          "dynamo_component_router_overlap_blocks_lost",
          "Cached blocks passed over by decisions for a rank with fewer.",
          0.25,
          0.5,
          1,
          2,
          4,
          8,
          16,
          32,
          64,
          128,
          256,
          512,
          1024,
          2048,
          4096,
          8192);
  public static final MetricName BEST_CACHED_TOKENS =
      new MetricName(
          "dynamo_component_router_kv_best_eligible_cached_prefix_tokens_total",
          "Prompt tokens that the candidate with the most of them was believed to hold.");
  public static final MetricName SELECTED_CACHED_TOKENS =
      new MetricName(
          "dynamo_component_router_kv_selected_cached_prefix_tokens_total",
          "Prompt tokens that the chosen rank was believed to hold.");
  public static final MetricName SEQUENCE_EVENTS_APPLIED =
      new MetricName(
          "dynamo_component_router_active_sequence_ingress_events_applied_total",
          "News of requests that other routers place, and of workers' first tokens, that counted.");
  public static final MetricName WORKERS =
      new MetricName("dynamo_component_router_worker_registered", "Workers that are live.");
  public static final MetricName OVERHEAD_BLOCK_HASHING =
      MetricName.histogram(
          "dynamo_router_overhead_block_hashing_ms",
          "Time to hash a prompt, its chain included, in milliseconds.",
          COMPUTE);
  public static final MetricName OVERHEAD_FIND_MATCHES =
      MetricName.histogram(
          "dynamo_router_overhead_indexer_find_matches_ms",
          "Time to find out who holds a prompt, in milliseconds.",
          WAITING);
  public static final MetricName OVERHEAD_SHARED_CACHE =
      MetricName.histogram(
          "dynamo_router_overhead_shared_cache_query_ms",
          "Time to find out what of a prompt the workers share, in milliseconds.",
          WAITING);
  public static final MetricName OVERHEAD_SCHEDULING =
      MetricName.histogram(
          "dynamo_router_overhead_scheduling_ms",
          "Time to choose and book a rank, with the wait in the queue, in milliseconds.",
          WAITING);
  public static final MetricName OVERHEAD_TOTAL =
      MetricName.histogram(
          "dynamo_router_overhead_total_ms",
          "Time from a prompt to its rank, in milliseconds.",
          WAITING);
  public static final MetricName QUEUE_REQUESTS =
      new MetricName(
          "dynamo_frontend_router_queue_pending_requests", "Requests that wait for a worker.");
  public static final MetricName QUEUE_ISL_TOKENS =
      new MetricName(
          "dynamo_frontend_router_queue_pending_isl_tokens",
          "Prompt tokens of requests that wait for a worker.");
  public static final MetricName QUEUE_CACHED_TOKENS =
      new MetricName(
          "dynamo_frontend_router_queue_pending_cached_tokens",
          "Those of them that the best rank was believed to hold.");
  public static final MetricName QUEUE_BACKPRESSURE =
      new MetricName(
          "dynamo_frontend_router_queue_backpressure_total",
          "Requests that were refused instead of waiting on, by reason.");
  public static final MetricName ADMISSION_RECEIVED =
      new MetricName(
          "dynamo_frontend_router_admission_received_total",
          "Requests that came to where they may have to wait for a worker.");
  public static final MetricName ADMISSION_REJECTED =
      new MetricName(
          "dynamo_frontend_router_admission_rejected_total",
          "Requests that were not placed in time, by reason.");
  public static final MetricName ROOM_EVICTED_BLOCKS =
      new MetricName(
          "dynamo_component_router_approximate_lru_evicted_blocks_total",
          "Blocks that ranks are believed to have dropped for want of room.");
  public static final MetricName ROOM_FALLBACKS =
      new MetricName(
          "dynamo_component_router_approximate_lru_fallback_activations_total",
          "Prompts that are forgotten by time, as their rank does not tell its room.");
  public static final MetricName ROOM_LEASES =
      new MetricName(
          "dynamo_component_router_approximate_lru_leases",
          "Open requests whose prompts cannot be dropped.");
  public static final MetricName SESSIONS =
      new MetricName("dynamo_router_sessions", "Sessions that are bound to a rank.");
  public static final MetricName SESSION_EVENTS_DROPPED =
      new MetricName(
          "dynamo_router_session_events_dropped_total",
          "News of sessions that other routers bind, or of ours for them, that changed nothing, by"
              + " reason.");
  public static final MetricName SEQUENCE_EVENTS_DROPPED =
      new MetricName(
          "dynamo_router_sequence_events_dropped_total",
          "News of requests that other routers place, or of ours for them, that did not arrive, by"
              + " reason.");

  private RouterMetrics() {}
}
