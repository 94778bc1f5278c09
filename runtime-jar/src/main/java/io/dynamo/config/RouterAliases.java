package io.dynamo.config;

import static io.dynamo.config.EnvironmentAliases.plain;

import java.util.List;

/** The original's environment names of the router's settings; of two for one, the later counts. */
final class RouterAliases {
  private RouterAliases() {}

  static List<EnvironmentAliases.Alias> all() {
    return List.of(
        plain("DYN_ROUTER_MODE", RouterKeys.MODE),
        plain("DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT", RouterKeys.OVERLAP_SCORE_CREDIT),
        plain("DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT_DECAY", RouterKeys.OVERLAP_SCORE_CREDIT_DECAY),
        plain("DYN_ROUTER_PREFILL_LOAD_SCALE", RouterKeys.PREFILL_LOAD_SCALE),
        plain("DYN_OVERLAP_SCORE_WEIGHT", RouterKeys.OVERLAP_SCORE_WEIGHT),
        plain("DYN_ROUTER_KV_OVERLAP_SCORE_WEIGHT", RouterKeys.OVERLAP_SCORE_WEIGHT),
        plain("DYN_ROUTER_DECODE_ACTIVE_REQUEST_WEIGHT", RouterKeys.DECODE_ACTIVE_REQUEST_WEIGHT),
        plain("DYN_ROUTER_HOST_CACHE_HIT_WEIGHT", RouterKeys.HOST_CACHE_HIT_WEIGHT),
        plain("DYN_ROUTER_DISK_CACHE_HIT_WEIGHT", RouterKeys.DISK_CACHE_HIT_WEIGHT),
        plain("DYN_SHARED_CACHE_TYPE", RouterKeys.SHARED_CACHE_TYPE),
        plain("DYN_SHARED_CACHE_MULTIPLIER", RouterKeys.SHARED_CACHE_MULTIPLIER),
        plain("DYN_MOONCAKE_KV_EVENTS_ENDPOINT", RouterKeys.SHARED_CACHE_EVENTS),
        plain("DYN_ROUTER_TEMPERATURE", RouterKeys.TEMPERATURE),
        plain("DYN_ROUTER_WORKER_SELECTION_POLICY", RouterKeys.WORKER_SELECTION_POLICY),
        plain("DYN_ROUTER_TRACK_ACTIVE_BLOCKS", RouterKeys.TRACK_ACTIVE_BLOCKS),
        plain("DYN_ROUTER_TRACK_OUTPUT_BLOCKS", RouterKeys.TRACK_OUTPUT_BLOCKS),
        plain("DYN_ROUTER_ASSUME_KV_REUSE", RouterKeys.ASSUME_KV_REUSE),
        plain("DYN_ROUTER_TRACK_PREFILL_TOKENS", RouterKeys.TRACK_PREFILL_TOKENS),
        plain("DYN_ROUTER_PREFILL_LOAD_MODEL", RouterKeys.PREFILL_LOAD_MODEL),
        plain("DYN_ROUTER_TRACKING_HASH", RouterKeys.TRACKING_HASH),
        plain("DYN_ROUTER_TRACKING_KEY_FILE", RouterKeys.TRACKING_KEY_FILE),
        plain("DYN_ROUTER_TRACKING_KEY_ID", RouterKeys.TRACKING_KEY_ID),
        plain("DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS", RouterKeys.ACTIVE_REQUEST_EXPIRY),
        plain("DYN_ROUTER_LOAD_AWARE", RouterKeys.LOAD_AWARE),
        plain("DYN_USE_KV_EVENTS", RouterKeys.USE_KV_EVENTS),
        plain("DYN_ROUTER_USE_KV_EVENTS", RouterKeys.USE_KV_EVENTS),
        plain("DYN_ROUTER_TTL_SECS", RouterKeys.TTL),
        plain("DYN_ROUTER_PREDICTED_TTL_SECS", RouterKeys.PREDICTED_TTL),
        plain("DYN_ROUTER_APPROXIMATE_CACHE_POLICY", RouterKeys.APPROXIMATE_CACHE_POLICY),
        plain("DYN_ROUTER_EVENT_THREADS", RouterKeys.EVENT_THREADS),
        plain("DYN_USE_REMOTE_INDEXER", RouterKeys.USE_REMOTE_INDEXER),
        plain("DYN_SERVE_INDEXER", RouterKeys.SERVE_INDEXER),
        plain("DYN_ENABLE_SESSION_PREFIX_INDEX", RouterKeys.SESSION_PREFIX_INDEX),
        plain("DYN_ROUTER_CONDITIONAL_DISAGG", RouterKeys.CONDITIONAL_DISAGG),
        plain("DYN_ROUTER_REPLICA_SYNC", RouterKeys.REPLICA_SYNC),
        plain("DYN_ROUTER_QUEUE_THRESHOLD", RouterKeys.QUEUE_THRESHOLD),
        plain("DYN_ROUTER_QUEUE_POLICY", RouterKeys.QUEUE_POLICY),
        plain("DYN_ROUTER_OVERLAP_REFRESH_AFTER_SECS", RouterKeys.OVERLAP_REFRESH),
        plain("DYN_ROUTER_POLICY_CONFIG", RouterKeys.POLICY_CONFIG),
        plain("DYN_ROUTER_MIN_INITIAL_WORKERS", RouterKeys.MIN_INITIAL_WORKERS),
        plain("DYN_ENCODER_CUDA_TO_CPU_RATIO", RouterKeys.CUDA_TO_CPU_RATIO),
        plain("DYN_ROUTER_SESSION_AFFINITY_TTL_SECS", RouterKeys.SESSION_TTL),
        plain("DYN_ROUTER_SESSION_AFFINITY_MODE", RouterKeys.SESSION_MODE),
        plain("DYN_ACTIVE_DECODE_BLOCKS_THRESHOLD", RouterKeys.DECODE_BLOCKS_THRESHOLD),
        plain("DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD", RouterKeys.PREFILL_TOKENS_THRESHOLD),
        plain("DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD_FRAC", RouterKeys.PREFILL_TOKENS_FRACTION));
  }
}
