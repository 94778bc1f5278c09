package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Metrics that dashboards use: every name of ours at {@code /metrics}, and that bytes count. */
@BuildServer
class MetricsIT {
  private static final URI SERVER = URI.create(System.getProperty("base.url"));
  private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE (dynamo_\\S+) \\S+$");

  /** A server that plays all roles and has answered. */
  private static final String[] NAMES = {
    "dynamo_component_cancellation_total",
    "dynamo_component_cleanup_time_seconds",
    "dynamo_component_drain_time_seconds",
    "dynamo_component_gpu_cache_usage_percent",
    "dynamo_component_inflight_requests",
    "dynamo_component_kv_cache_events_applied",
    "dynamo_component_kv_cache_hit_rate",
    "dynamo_component_kv_publisher_engines_dropped_events_total",
    "dynamo_component_model_load_time_seconds",
    "dynamo_component_request_bytes_total",
    "dynamo_component_request_duration_seconds",
    "dynamo_component_requests_total",
    "dynamo_component_response_bytes_total",
    "dynamo_component_router_active_sequence_ingress_events_applied_total",
    "dynamo_component_router_approximate_lru_fallback_activations_total",
    "dynamo_component_router_approximate_lru_leases",
    "dynamo_component_router_input_sequence_tokens",
    "dynamo_component_router_inter_token_latency_seconds",
    "dynamo_component_router_kv_best_eligible_cached_prefix_tokens_total",
    "dynamo_component_router_kv_hit_rate",
    "dynamo_component_router_kv_selected_cached_prefix_tokens_total",
    "dynamo_component_router_non_max_overlap_selections_total",
    "dynamo_component_router_output_sequence_tokens",
    "dynamo_component_router_overlap_blocks_lost",
    "dynamo_component_router_requests_started_total",
    "dynamo_component_router_requests_total",
    "dynamo_component_router_shared_cache_beyond_blocks",
    "dynamo_component_router_shared_cache_hit_rate",
    "dynamo_component_router_time_to_first_token_seconds",
    "dynamo_component_router_worker_registered",
    "dynamo_component_total_blocks",
    "dynamo_component_uptime_seconds",
    "dynamo_engine_request",
    "dynamo_event_dropped_total",
    "dynamo_frontend_active_requests",
    "dynamo_frontend_batch_lines_total",
    "dynamo_frontend_batch_retries_total",
    "dynamo_frontend_batches_running",
    "dynamo_frontend_cached_tokens",
    "dynamo_frontend_detokenize_token_count",
    "dynamo_frontend_detokenize_total_us",
    "dynamo_frontend_admission_waiting_requests",
    "dynamo_frontend_inflight_requests",
    "dynamo_frontend_input_sequence_tokens",
    "dynamo_frontend_inter_token_latency_seconds",
    "dynamo_frontend_media_cache_bytes",
    "dynamo_frontend_media_cache_entries",
    "dynamo_frontend_media_decoded_bytes",
    "dynamo_frontend_model_context_length",
    "dynamo_frontend_model_kv_cache_block_size",
    "dynamo_frontend_model_max_num_batched_tokens",
    "dynamo_frontend_model_max_num_seqs",
    "dynamo_frontend_model_migration_limit",
    "dynamo_frontend_model_ready",
    "dynamo_frontend_model_total_kv_blocks",
    "dynamo_frontend_output_sequence_tokens",
    "dynamo_frontend_output_tokens_total",
    "dynamo_frontend_queued_requests",
    "dynamo_frontend_request_duration_seconds",
    "dynamo_frontend_requests_started_total",
    "dynamo_frontend_requests_total",
    "dynamo_frontend_responses_lost_total",
    "dynamo_frontend_responses_waiting",
    "dynamo_frontend_responses_written_total",
    "dynamo_frontend_router_admission_received_total",
    "dynamo_frontend_router_admission_rejected_total",
    "dynamo_frontend_router_queue_backpressure_total",
    "dynamo_frontend_router_queue_pending_cached_tokens",
    "dynamo_frontend_router_queue_pending_isl_tokens",
    "dynamo_frontend_router_queue_pending_requests",
    "dynamo_frontend_stage_duration_seconds",
    "dynamo_frontend_stage_requests",
    "dynamo_frontend_template_seconds",
    "dynamo_frontend_time_to_first_token_seconds",
    "dynamo_frontend_tokenize_seconds",
    "dynamo_frontend_tokenizer_cache_bytes",
    "dynamo_frontend_tokenizer_cache_cached_tokens_total",
    "dynamo_frontend_tokenizer_cache_entries",
    "dynamo_frontend_tokenizer_cache_hits_total",
    "dynamo_frontend_tokenizer_cache_misses_total",
    "dynamo_frontend_tokenizer_cache_uncached_tokens_total",
    "dynamo_frontend_tokenizer_latency_ms",
    "dynamo_rejection_request_total",
    "dynamo_request_plane_inflight_requests",
    "dynamo_request_plane_queue_seconds",
    "dynamo_request_plane_roundtrip_ttft_seconds",
    "dynamo_request_plane_send_seconds",
    "dynamo_request_queue",
    "dynamo_router_active_requests",
    "dynamo_router_decision_seconds",
    "dynamo_router_decisions_total",
    "dynamo_router_event_gaps_total",
    "dynamo_router_events_buffered_total",
    "dynamo_router_events_dropped_total",
    "dynamo_router_index_blocks",
    "dynamo_router_load_reports_dropped_total",
    "dynamo_router_overhead_block_hashing_ms",
    "dynamo_router_overhead_indexer_find_matches_ms",
    "dynamo_router_overhead_scheduling_ms",
    "dynamo_router_overhead_shared_cache_query_ms",
    "dynamo_router_overhead_total_ms",
    "dynamo_router_overlap_blocks_total",
    "dynamo_router_prompt_blocks_total",
    "dynamo_router_recoveries_total",
    "dynamo_router_reported_used_blocks",
    "dynamo_router_restored_blocks_total",
    "dynamo_router_restored_ranks_total",
    "dynamo_router_sequence_events_dropped_total",
    "dynamo_router_shared_cache_errors_total",
    "dynamo_transfer_read_bytes_total",
    "dynamo_transfer_written_bytes_total",
    "dynamo_transport_tcp_bytes_received_total",
    "dynamo_transport_tcp_bytes_sent_total",
    "dynamo_transport_tcp_connections_refused_total",
    "dynamo_transport_tcp_errors_total",
    "dynamo_work_handler_network_transit_seconds",
    "dynamo_work_handler_permit_wait_seconds",
    "dynamo_work_handler_pool_active_tasks",
    "dynamo_work_handler_pool_capacity",
    "dynamo_work_handler_queue_capacity",
    "dynamo_work_handler_queue_depth",
    "dynamo_work_handler_time_to_first_response_seconds",
    "dynamo_worker_active_decode_blocks",
    "dynamo_worker_active_prefill_tokens",
    "dynamo_worker_cached_blocks",
    "dynamo_worker_corrupt_blocks",
    "dynamo_worker_forward_passes_dropped_total",
    "dynamo_worker_prefill_marks_dropped_total",
    "dynamo_worker_running_requests",
    "dynamo_worker_waiting_requests",
    "dynamo_frontend_worker_active_decode_blocks",
    "dynamo_frontend_worker_active_prefill_tokens",
    "dynamo_frontend_worker_last_input_sequence_tokens",
    "dynamo_frontend_worker_last_inter_token_latency_seconds",
    "dynamo_frontend_worker_last_time_to_first_token_seconds",
  };

  /** Those that appear with what they count. */
  private static final String[] OCCASIONAL = {
    "dynamo_component_errors_total",
    "dynamo_frontend_admission_refused_total",
    "dynamo_frontend_admission_wait_seconds",
    "dynamo_frontend_disconnected_clients",
    "dynamo_frontend_failures_total",
    "dynamo_frontend_model_cancellation_total",
    "dynamo_frontend_model_migration_duration_seconds",
    "dynamo_frontend_model_migration_max_seq_len_exceeded_total",
    "dynamo_frontend_model_migration_total",
    "dynamo_frontend_model_rejection_total",
    "dynamo_frontend_model_unfinished_streams_total",
    "dynamo_worker_migration_failed_moves_total", // these three: of engines whose blocks can move
    "dynamo_worker_migration_saved_tokens_total",
    "dynamo_worker_migration_sent_tokens_total",
  };

  @Test
  void namesAreTheOnesThatWePromised() throws Exception {
    chat();

    Polling.untilAsserted(
        Duration.ofSeconds(10),
        () -> {
          var names = new TreeSet<String>();
          TYPE.matcher(metrics()).results().forEach(type -> names.add(type.group(1)));
          joinHistograms(names);
          names.removeAll(Set.of(OCCASIONAL));
          assertThat(names).containsExactlyInAnyOrder(NAMES);
        });
  }

  @Test
  void chatSendsBytesOverTheRequestPlane() throws Exception {
    double before = value("dynamo_transport_tcp_bytes_sent_total");

    chat();

    Polling.untilAsserted(
        Duration.ofSeconds(10),
        () -> assertThat(value("dynamo_transport_tcp_bytes_sent_total")).isGreaterThan(before));
  }

  @Test
  void countersAreAsNewAsGauges() throws Exception {
    chat(); // a counter begins with what it counts
    for (int i = 0; i < 5; i++) {
      double before = value("dynamo_frontend_output_tokens_total");
      chat();
      assertThat(value("dynamo_frontend_output_tokens_total")).isGreaterThan(before);
    }
  }

  /** A histogram comes in parts. */
  private static void joinHistograms(Set<String> names) {
    for (var bucket : names.stream().filter(name -> name.endsWith("_bucket")).toList()) {
      var whole = bucket.replaceFirst("_bucket$", "");
      assertThat(names.remove(whole + "_sum")).as(whole).isTrue();
      assertThat(names.remove(whole + "_count")).as(whole).isTrue();
      names.remove(bucket);
      names.add(whole);
    }
  }

  private static void chat() throws Exception {
    var body = ChatClient.body(Cluster.MODEL, "What is the capital of France?", 16, true);
    try (var client = ChatClient.post(SERVER.getPort(), body)) {
      assertThat(client.text()).isNotEmpty();
    }
  }

  private static double value(String name) throws Exception {
    var sample = Pattern.compile("(?m)^" + name + "(?:\\{[^}]*})? (\\S+)$").matcher(metrics());
    assertThat(sample.find()).as(name).isTrue();
    return Double.parseDouble(sample.group(1));
  }

  private static String metrics() throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      var request =
          HttpRequest.newBuilder(SERVER.resolve("/metrics"))
              .timeout(Duration.ofSeconds(20))
              .build();
      return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
  }
}
