package io.dynamo.metrics;

/** What the router counts; Dynamo's names where the meaning is the same. */
public final class RouterMetrics {
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
  public static final MetricName LOAD_REPORTS_DROPPED =
      new MetricName(
          "dynamo_router_load_reports_dropped_total",
          "Load reports of workers that were not kept, by reason.");
  public static final MetricName REPORTED_USED_BLOCKS =
      new MetricName(
          "dynamo_router_reported_used_blocks",
          "KV blocks in use on all ranks of an endpoint, as its workers report.");
  public static final MetricName SEQUENCE_EVENTS_DROPPED =
      new MetricName(
          "dynamo_router_sequence_events_dropped_total",
          "News of requests that other routers place, or of ours for them, that did not arrive, by"
              + " reason.");

  private RouterMetrics() {}
}
