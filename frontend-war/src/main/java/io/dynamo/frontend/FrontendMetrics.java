package io.dynamo.frontend;

import io.dynamo.metrics.LogBuckets;
import io.dynamo.metrics.MetricName;
import java.util.List;

/**
 * The frontend's metrics, by Dynamo's names; prefix and buckets as they are unless settings say
 * otherwise.
 */
public final class FrontendMetrics {
  private static final List<Double> PROMPT_TOKENS = LogBuckets.of(50, 128_000, 12);

  public static final MetricName REQUESTS_STARTED =
      new MetricName("dynamo_frontend_requests_started_total", "Requests that the API received");
  public static final MetricName REQUESTS =
      new MetricName("dynamo_frontend_requests_total", "Requests by how they ended, each once");
  public static final MetricName FAILURES =
      new MetricName(
          "dynamo_frontend_failures_total", "Error answers by class and reason, on every path");
  public static final MetricName INFLIGHT =
      new MetricName("dynamo_frontend_inflight_requests", "Requests under way");
  public static final MetricName ACTIVE =
      new MetricName(
          "dynamo_frontend_active_requests", "Requests under way, under Dynamo's other name");
  public static final MetricName QUEUED =
      new MetricName("dynamo_frontend_queued_requests", "Requests without their first token");
  public static final MetricName DISCONNECTED_CLIENTS =
      new MetricName(
          "dynamo_frontend_disconnected_clients", "Clients that left before their answer was done");
  public static final MetricName CANCELLATIONS =
      new MetricName(
          "dynamo_frontend_model_cancellation_total", "Requests cancelled because the client left");
  public static final MetricName REJECTIONS =
      new MetricName("dynamo_frontend_model_rejection_total", "Requests refused for want of room");
  public static final MetricName ADMISSION_WAITING =
      new MetricName(
          "dynamo_frontend_admission_waiting_requests", "Requests that wait for their turn");
  public static final MetricName ADMISSION_WAIT =
      new MetricName(
          "dynamo_frontend_admission_wait_seconds", "How long requests waited for their turn");
  public static final MetricName ADMISSION_REFUSED =
      new MetricName("dynamo_frontend_admission_refused_total", "Requests refused, by reason");
  public static final MetricName MEDIA_FETCHES =
      new MetricName(
          "dynamo_frontend_media_fetches_total", "Media of prompts to fetch, by how that ended");
  public static final MetricName MEDIA_FETCHING =
      new MetricName("dynamo_frontend_media_fetching", "Media that are being fetched");
  public static final MetricName MEDIA_FETCHED_BYTES =
      new MetricName(
          "dynamo_frontend_media_fetched_bytes_total", "Bytes of media that were fetched");
  public static final MetricName MEDIA_FETCH_DURATION =
      new MetricName(
          "dynamo_frontend_media_fetch_seconds",
          "How long media that were fetched took",
          LogBuckets.of(0.001, 60, 12));
  public static final MetricName MEDIA_CACHE_BYTES =
      new MetricName("dynamo_frontend_media_cache_bytes", "Bytes of media that are kept");
  public static final MetricName MEDIA_CACHE_ENTRIES =
      new MetricName("dynamo_frontend_media_cache_entries", "Media that are kept");
  public static final MetricName MEDIA_DECODED_BYTES =
      new MetricName(
          "dynamo_frontend_media_decoded_bytes",
          "Bytes of decoded images that workers can read over NIXL");
  public static final MetricName MEDIA_ROUTED =
      new MetricName(
          "dynamo_frontend_media_routed_requests_total",
          "Requests with images, by what routers know of those");
  public static final MetricName REQUEST_DURATION =
      new MetricName(
          "dynamo_frontend_request_duration_seconds",
          "From arrival to the last byte",
          LogBuckets.of(1, 512, 10));
  public static final MetricName TIME_TO_FIRST_TOKEN =
      new MetricName(
          "dynamo_frontend_time_to_first_token_seconds",
          "From arrival to the first token",
          LogBuckets.of(0.001, 480, 18));
  public static final MetricName INTER_TOKEN_LATENCY =
      new MetricName(
          "dynamo_frontend_inter_token_latency_seconds",
          "Between two tokens of one choice",
          LogBuckets.of(0.001, 80, 20));
  public static final MetricName OUTPUT_TOKENS =
      new MetricName("dynamo_frontend_output_tokens_total", "Tokens generated");
  public static final MetricName INPUT_SEQUENCE =
      new MetricName(
          "dynamo_frontend_input_sequence_tokens",
          "Tokens of the prompts of requests that got a token",
          PROMPT_TOKENS);
  public static final MetricName OUTPUT_SEQUENCE =
      new MetricName(
          "dynamo_frontend_output_sequence_tokens",
          "Tokens generated for a request, all choices together",
          LogBuckets.of(50, 32_000, 10));
  public static final MetricName CACHED_TOKENS =
      new MetricName(
          "dynamo_frontend_cached_tokens",
          "Prompt tokens found in the KV cache, of requests whose worker reported them",
          PROMPT_TOKENS);
  public static final MetricName MODEL_READY =
      new MetricName("dynamo_frontend_model_ready", "Whether a model can be asked now");
  public static final MetricName MODEL_KV_BLOCKS =
      new MetricName(
          "dynamo_frontend_model_total_kv_blocks", "KV blocks of a worker, as its card has it");
  public static final MetricName MODEL_MAX_SEQS =
      new MetricName(
          "dynamo_frontend_model_max_num_seqs",
          "Requests that a worker runs at once, as its card has it");
  public static final MetricName MODEL_MAX_BATCHED_TOKENS =
      new MetricName(
          "dynamo_frontend_model_max_num_batched_tokens",
          "Tokens of a worker's batch, as its card has it");
  public static final MetricName MODEL_CONTEXT_LENGTH =
      new MetricName("dynamo_frontend_model_context_length", "Tokens that a model can attend to");
  public static final MetricName MODEL_BLOCK_SIZE =
      new MetricName("dynamo_frontend_model_kv_cache_block_size", "Tokens of a KV block");
  public static final MetricName MODEL_MIGRATION_LIMIT =
      new MetricName(
          "dynamo_frontend_model_migration_limit",
          "How often a generation may move, as the card has it");
  public static final MetricName ADAPTER_WORKERS =
      new MetricName(
          "dynamo_frontend_lora_replica_factor",
          "Workers of an endpoint that have an adapter loaded");
  public static final MetricName WORKER_BLOCKS =
      new MetricName(
          "dynamo_frontend_worker_active_decode_blocks",
          "KV blocks that the router has booked on a worker's rank");
  public static final MetricName WORKER_PREFILL =
      new MetricName(
          "dynamo_frontend_worker_active_prefill_tokens",
          "Prompt tokens booked on a worker's rank whose first output is not out");
  public static final MetricName WORKER_FIRST_TOKEN =
      new MetricName(
          "dynamo_frontend_worker_last_time_to_first_token_seconds",
          "From arrival to the first token, of the newest request that a worker's rank began");
  public static final MetricName WORKER_INPUT =
      new MetricName(
          "dynamo_frontend_worker_last_input_sequence_tokens",
          "Tokens of the prompts of the newest request that a worker's rank began");
  public static final MetricName WORKER_INTER_TOKEN =
      new MetricName(
          "dynamo_frontend_worker_last_inter_token_latency_seconds",
          "Between the newest two tokens of a worker's rank");

  private FrontendMetrics() {}
}
