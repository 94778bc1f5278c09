package io.dynamo.config.router;

import static io.dynamo.config.key.Alias.member;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.atLeast;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DECIMAL;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.TEXT;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.SettingKey;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The settings of the router, in the order of the documentation. Names are those of Dynamo's {@code
 * KvRouterConfig} with hyphens, less the prefix {@code router_}.
 */
public final class RouterKeys {
  private static final KeyList KEYS = new KeyList();
  private static final String CONDITIONAL_DISAGG_CONFIG = "DYN_ROUTER_CONDITIONAL_DISAGG_CONFIG";

  static final SettingKey<RouterSettings.Mode> MODE =
      KEYS.key(
          "dynamo.router.mode",
          RouterTypes.MODE,
          "kv",
          none(),
          "how a request finds its worker",
          plain("DYN_ROUTER_MODE"));
  static final SettingKey<Double> OVERLAP_SCORE_CREDIT =
      KEYS.key(
          "dynamo.router.overlap-score-credit",
          DECIMAL,
          "1.0",
          atLeast(0.0),
          "blocks of prefill that one cached block is worth; 0 keeps no index",
          plain("DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT"));
  static final SettingKey<Double> OVERLAP_SCORE_CREDIT_DECAY =
      KEYS.key(
          "dynamo.router.overlap-score-credit-decay",
          DECIMAL,
          "0",
          atLeast(0.0),
          "how fast the credit falls where more prefill waits than elsewhere; 0 never",
          plain("DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT_DECAY"));
  static final SettingKey<Double> PREFILL_LOAD_SCALE =
      KEYS.key(
          "dynamo.router.prefill-load-scale",
          DECIMAL,
          "1.0",
          atLeast(0.0),
          "what a block of prefill counts beside an active block",
          plain("DYN_ROUTER_PREFILL_LOAD_SCALE"));
  static final SettingKey<Double> OVERLAP_SCORE_WEIGHT =
      KEYS.key(
          "dynamo.router.overlap-score-weight",
          DECIMAL,
          "",
          atLeast(0.0),
          "deprecated name of `prefill-load-scale`, which it sets; 0 also takes the credit away",
          plain("DYN_OVERLAP_SCORE_WEIGHT"),
          plain("DYN_ROUTER_KV_OVERLAP_SCORE_WEIGHT"));
  static final SettingKey<Double> DECODE_ACTIVE_REQUEST_WEIGHT =
      KEYS.key(
          "dynamo.router.decode-active-request-weight",
          DECIMAL,
          "0",
          atLeast(0.0),
          "blocks that an active request counts beside its own",
          plain("DYN_ROUTER_DECODE_ACTIVE_REQUEST_WEIGHT"));
  static final SettingKey<Double> HOST_CACHE_HIT_WEIGHT =
      KEYS.key(
          "dynamo.router.host-cache-hit-weight",
          DECIMAL,
          "0.75",
          atLeast(0.0),
          "what a block in host memory is worth, beside 1 on the device",
          plain("DYN_ROUTER_HOST_CACHE_HIT_WEIGHT"));
  static final SettingKey<Double> DISK_CACHE_HIT_WEIGHT =
      KEYS.key(
          "dynamo.router.disk-cache-hit-weight",
          DECIMAL,
          "0.25",
          atLeast(0.0),
          "what a block on disk or farther is worth",
          plain("DYN_ROUTER_DISK_CACHE_HIT_WEIGHT"));
  static final SettingKey<RouterSettings.SharedCache> SHARED_CACHE_TYPE =
      KEYS.key(
          "dynamo.router.shared-cache-type",
          oneOf(RouterSettings.SharedCache.class),
          "none",
          none(),
          "a cache that all workers share: hicache is SGLang's in a store of Mooncake",
          plain("DYN_SHARED_CACHE_TYPE"));
  static final SettingKey<Double> SHARED_CACHE_MULTIPLIER =
      KEYS.key(
          "dynamo.router.shared-cache-multiplier",
          DECIMAL,
          "",
          between(0.0, 1.0),
          "what a block in the shared cache is worth, beside 1 on the device; absent: 0.5 with such"
              + " a cache",
          plain("DYN_SHARED_CACHE_MULTIPLIER"));
  static final SettingKey<String> SHARED_CACHE_EVENTS =
      KEYS.key(
          "dynamo.router.shared-cache-events",
          RouterTypes.PUBLISHER,
          "",
          none(),
          "where the store of the shared cache publishes its content; absent: where the workers'"
              + " model cards say",
          plain("DYN_MOONCAKE_KV_EVENTS_ENDPOINT"));
  static final SettingKey<Double> TEMPERATURE =
      KEYS.key(
          "dynamo.router.temperature",
          DECIMAL,
          "0",
          atLeast(0.0),
          "0 takes the cheapest rank; above, ranks are drawn by cost",
          plain("DYN_ROUTER_TEMPERATURE"));
  static final SettingKey<RouterSettings.TieBreak> TIE_BREAK =
      KEYS.key(
          "dynamo.router.tie-break",
          oneOf(RouterSettings.TieBreak.class),
          "load",
          none(),
          "who gets a request that costs the same on several ranks: the one with fewest requests,"
              + " or any");
  static final SettingKey<RouterSettings.Policy> WORKER_SELECTION_POLICY =
      KEYS.key(
          "dynamo.router.worker-selection-policy",
          RouterTypes.POLICY,
          "default",
          none(),
          "how kv mode compares ranks",
          plain("DYN_ROUTER_WORKER_SELECTION_POLICY"));
  static final SettingKey<Boolean> TRACK_ACTIVE_BLOCKS =
      KEYS.key(
          "dynamo.router.track-active-blocks",
          BOOLEAN,
          "true",
          none(),
          "whether active blocks count as load",
          plain("DYN_ROUTER_TRACK_ACTIVE_BLOCKS"));
  static final SettingKey<Boolean> TRACK_OUTPUT_BLOCKS =
      KEYS.key(
          "dynamo.router.track-output-blocks",
          BOOLEAN,
          "false",
          none(),
          "whether blocks of generated tokens count as load",
          plain("DYN_ROUTER_TRACK_OUTPUT_BLOCKS"));
  static final SettingKey<Boolean> ASSUME_KV_REUSE =
      KEYS.key(
          "dynamo.router.assume-kv-reuse",
          BOOLEAN,
          "true",
          none(),
          "whether active prompts with equal blocks are believed to share them",
          plain("DYN_ROUTER_ASSUME_KV_REUSE"));
  static final SettingKey<Boolean> TRACK_PREFILL_TOKENS =
      KEYS.key(
          "dynamo.router.track-prefill-tokens",
          BOOLEAN,
          "true",
          none(),
          "whether prompts count as work ahead until their first token",
          plain("DYN_ROUTER_TRACK_PREFILL_TOKENS"));
  static final SettingKey<RouterSettings.PrefillModel> PREFILL_LOAD_MODEL =
      KEYS.key(
          "dynamo.router.prefill-load-model",
          oneOf(RouterSettings.PrefillModel.class),
          "none",
          none(),
          "whether work ahead shrinks while it runs; ais is not supported yet and refused",
          plain("DYN_ROUTER_PREFILL_LOAD_MODEL"));
  static final SettingKey<RouterSettings.TrackingHash> TRACKING_HASH =
      KEYS.key(
          "dynamo.router.tracking-hash",
          oneOf(RouterSettings.TrackingHash.class),
          "public-xxh3-v1",
          none(),
          "how active blocks are named to other routers: openly, or under a secret that they share",
          plain("DYN_ROUTER_TRACKING_HASH"));
  static final SettingKey<Path> TRACKING_KEY_FILE =
      KEYS.key(
          "dynamo.router.tracking-key-file",
          PATH,
          "",
          none(),
          "the secret of keyed-xxh3-v1: a file of 32 bytes",
          plain("DYN_ROUTER_TRACKING_KEY_FILE"));
  static final SettingKey<String> TRACKING_KEY_ID =
      KEYS.key(
          "dynamo.router.tracking-key-id",
          TEXT,
          "",
          none(),
          "the secret's name; routers name blocks alike under one secret and name",
          plain("DYN_ROUTER_TRACKING_KEY_ID"));
  static final SettingKey<Double> ACTIVE_REQUEST_EXPIRY =
      KEYS.key(
          "dynamo.router.active-request-expiry-secs",
          DECIMAL,
          "300",
          between(1.0, 86_400.0),
          "after which a booking that nobody gave back is dropped",
          plain("DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS"));
  static final SettingKey<Boolean> LOAD_AWARE =
      KEYS.key(
          "dynamo.router.load-aware",
          BOOLEAN,
          "false",
          none(),
          "preset: mode kv by load alone, without credit, KV events and reuse",
          plain("DYN_ROUTER_LOAD_AWARE"));
  static final SettingKey<Boolean> USE_KV_EVENTS =
      KEYS.key(
          "dynamo.router.use-kv-events",
          BOOLEAN,
          "true",
          none(),
          "whether the index follows workers' events; otherwise it follows the router's own"
              + " decisions",
          plain("DYN_USE_KV_EVENTS"),
          plain("DYN_ROUTER_USE_KV_EVENTS"));
  static final SettingKey<Double> TTL =
      KEYS.key(
          "dynamo.router.ttl-secs",
          DECIMAL,
          "120",
          between(0.1, 86_400.0),
          "how long a decision is believed to stay cached, without KV events",
          plain("DYN_ROUTER_TTL_SECS"));
  static final SettingKey<Double> PREDICTED_TTL =
      KEYS.key(
          "dynamo.router.predicted-ttl-secs",
          DECIMAL,
          "",
          between(0.1, 86_400.0),
          "beside KV events: how long a decision is believed to be cached before its events say so",
          plain("DYN_ROUTER_PREDICTED_TTL_SECS"));
  static final SettingKey<RouterSettings.CachePolicy> APPROXIMATE_CACHE_POLICY =
      KEYS.key(
          "dynamo.router.approximate-cache-policy",
          oneOf(RouterSettings.CachePolicy.class),
          "ttl",
          none(),
          "how decisions are forgotten without KV events: by time, or as a rank's room fills up"
              + " (lru)",
          plain("DYN_ROUTER_APPROXIMATE_CACHE_POLICY"));
  static final SettingKey<Integer> EVENT_THREADS =
      KEYS.key(
          "dynamo.router.event-threads",
          INTEGER,
          "4",
          between(1, 1024),
          "accepted for Dynamo's sake; the index has one writer and readers without locks",
          plain("DYN_ROUTER_EVENT_THREADS"));
  static final SettingKey<Boolean> USE_REMOTE_INDEXER =
      KEYS.key(
          "dynamo.router.use-remote-indexer",
          BOOLEAN,
          "false",
          none(),
          "whether what is cached is asked of another router, one with `serve-indexer`, instead of"
              + " the workers' events",
          plain("DYN_USE_REMOTE_INDEXER"));
  static final SettingKey<Boolean> SERVE_INDEXER =
      KEYS.key(
          "dynamo.router.serve-indexer",
          BOOLEAN,
          "false",
          none(),
          "whether this router's index answers other routers (`kv_indexer_query`)",
          plain("DYN_SERVE_INDEXER"));
  static final SettingKey<Boolean> SESSION_PREFIX_INDEX =
      KEYS.key(
          "dynamo.router.enable-session-prefix-index",
          BOOLEAN,
          "false",
          none(),
          "an index that no decision reads, in Dynamo neither: true is refused",
          plain("DYN_ENABLE_SESSION_PREFIX_INDEX"));
  static final SettingKey<Boolean> CONDITIONAL_DISAGG =
      KEYS.key(
          "dynamo.router.conditional-disagg",
          BOOLEAN,
          "false",
          none(),
          "whether a decode worker may compute a prompt itself although a prefill worker is live",
          plain("DYN_ROUTER_CONDITIONAL_DISAGG"));
  static final SettingKey<RouterSettings.LocalPrefillPolicy> CONDITIONAL_DISAGG_POLICY =
      KEYS.key(
          "dynamo.router.conditional-disagg-policy",
          RouterTypes.LOCAL_PREFILL,
          "isl-bounding",
          none(),
          "when it does: little is left to compute, the prefill worker is busy, or either",
          member(CONDITIONAL_DISAGG_CONFIG, "policy"));
  static final SettingKey<Integer> CONDITIONAL_DISAGG_TOKENS =
      KEYS.key(
          "dynamo.router.conditional-disagg-eff-isl-threshold",
          INTEGER,
          "2048",
          atLeast(0),
          "tokens that the decode worker has not cached: fewer are little",
          member(CONDITIONAL_DISAGG_CONFIG, "eff_isl_threshold"));
  static final SettingKey<Double> CONDITIONAL_DISAGG_RATIO =
      KEYS.key(
          "dynamo.router.conditional-disagg-eff-isl-ratio-threshold",
          DECIMAL,
          "0.7",
          between(0.0, 1.0),
          "their share of the prompt, which must be lower, too",
          member(CONDITIONAL_DISAGG_CONFIG, "eff_isl_ratio_threshold"));
  static final SettingKey<Double> CONDITIONAL_DISAGG_PREFILL_BUSY =
      KEYS.key(
          "dynamo.router.conditional-disagg-prefill-busy-threshold",
          DECIMAL,
          "",
          atLeast(0.0),
          "batches of prefill above which the prefill worker is busy; absent takes"
              + " `queue-threshold`",
          member(CONDITIONAL_DISAGG_CONFIG, "prefill_busy_threshold"));
  static final SettingKey<Double> CONDITIONAL_DISAGG_DECODE_BUSY =
      KEYS.key(
          "dynamo.router.conditional-disagg-decode-busy-threshold",
          DECIMAL,
          "",
          atLeast(0.0),
          "share of its KV blocks above which a decode worker computes no prompt; absent is no"
              + " bound",
          member(CONDITIONAL_DISAGG_CONFIG, "decode_busy_threshold"));
  static final SettingKey<Boolean> REPLICA_SYNC =
      KEYS.key(
          "dynamo.router.replica-sync",
          BOOLEAN,
          "false",
          none(),
          "whether routers inform each other of the requests that they have placed",
          plain("DYN_ROUTER_REPLICA_SYNC"));
  static final SettingKey<Double> QUEUE_THRESHOLD =
      KEYS.key(
          "dynamo.router.queue-threshold",
          RouterTypes.THRESHOLD,
          "4.0",
          none(),
          "requests wait when every rank has more prefill ahead than this many batches; off never"
              + " waits",
          plain("DYN_ROUTER_QUEUE_THRESHOLD"));
  static final SettingKey<Integer> QUEUE_BATCH_TOKENS =
      KEYS.key(
          "dynamo.router.queue-batch-tokens",
          INTEGER,
          String.valueOf(RouterSettings.Queueing.BATCH_TOKENS),
          atLeast(1),
          "a batch of a worker whose card names no `max_num_batched_tokens`, for"
              + " `queue-threshold`");
  static final SettingKey<RouterSettings.QueuePolicy> QUEUE_POLICY =
      KEYS.key(
          "dynamo.router.queue-policy",
          oneOf(RouterSettings.QueuePolicy.class),
          "fcfs",
          none(),
          "who waits least: the first, the last, or the shortest for its priority",
          plain("DYN_ROUTER_QUEUE_POLICY"));
  static final SettingKey<Integer> QUEUE_CAPACITY =
      KEYS.key(
          "dynamo.router.queue-capacity",
          INTEGER,
          "1024",
          between(0, 65_536),
          "requests that may wait at once per endpoint; more are answered 529");
  static final SettingKey<Duration> QUEUE_TIMEOUT =
      KEYS.key(
          "dynamo.router.queue-timeout",
          DURATION,
          "30s",
          Bound.WAIT,
          "how long a request may wait; then it is answered 529");
  static final SettingKey<Double> OVERLAP_REFRESH =
      KEYS.key(
          "dynamo.router.overlap-refresh-after-secs",
          DECIMAL,
          "10",
          between(0.0, 86_400.0),
          "after waiting so long, what is cached is looked up again; 0 never",
          plain("DYN_ROUTER_OVERLAP_REFRESH_AFTER_SECS"));
  static final SettingKey<Path> POLICY_CONFIG =
      KEYS.key(
          "dynamo.router.policy-config",
          PATH,
          "",
          none(),
          "a YAML file of classes in which requests wait, instead of one class",
          plain("DYN_ROUTER_POLICY_CONFIG"));
  static final SettingKey<Integer> MIN_INITIAL_WORKERS =
      KEYS.key(
          "dynamo.router.min-initial-workers",
          INTEGER,
          "0",
          between(0, 100_000),
          "workers that must have been seen before the first request is placed",
          plain("DYN_ROUTER_MIN_INITIAL_WORKERS"));
  static final SettingKey<Integer> CUDA_TO_CPU_RATIO =
      KEYS.key(
          "dynamo.router.cuda-to-cpu-ratio",
          INTEGER,
          String.valueOf(RouterSettings.CUDA_TO_CPU_RATIO),
          between(1, 1_000_000),
          "mode device-aware-weighted: requests of a worker with an accelerator for one of a worker"
              + " without",
          plain("DYN_ENCODER_CUDA_TO_CPU_RATIO"));
  static final SettingKey<Boolean> SKIP_INITIAL_WORKER_WAIT =
      KEYS.key(
          "dynamo.router.skip-initial-worker-wait",
          BOOLEAN,
          "false",
          none(),
          "whether `min-initial-workers` is passed over");
  static final SettingKey<Double> SESSION_TTL =
      KEYS.key(
          "dynamo.router.session-affinity-ttl-secs",
          DECIMAL,
          "",
          between(1.0, 31_536_000.0),
          "how long an idle session stays with its rank; absent turns affinity off",
          plain("DYN_ROUTER_SESSION_AFFINITY_TTL_SECS"));
  static final SettingKey<RouterSettings.SessionMode> SESSION_MODE =
      KEYS.key(
          "dynamo.router.session-affinity-mode",
          oneOf(RouterSettings.SessionMode.class),
          "hard",
          none(),
          "whether a session that cannot stay waits and fails there (hard) or moves (soft)",
          plain("DYN_ROUTER_SESSION_AFFINITY_MODE"));
  static final SettingKey<Double> DECODE_BLOCKS_THRESHOLD =
      KEYS.key(
          "dynamo.router.active-decode-blocks-threshold",
          DECIMAL,
          "",
          between(0.0, 1.0),
          "share of its KV blocks above which a worker is busy; absent is never",
          plain("DYN_ACTIVE_DECODE_BLOCKS_THRESHOLD"));
  static final SettingKey<Integer> PREFILL_TOKENS_THRESHOLD =
      KEYS.key(
          "dynamo.router.active-prefill-tokens-threshold",
          INTEGER,
          "",
          atLeast(0),
          "prefill tokens above which a worker is busy; absent is never",
          plain("DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD"));
  static final SettingKey<Double> PREFILL_TOKENS_FRACTION =
      KEYS.key(
          "dynamo.router.active-prefill-tokens-threshold-frac",
          DECIMAL,
          "",
          atLeast(0.0),
          "the same in batches of the worker's `max_num_batched_tokens`",
          plain("DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD_FRAC"));
  static final SettingKey<Integer> EXPLAIN_CAPACITY =
      KEYS.key(
          "dynamo.router.explain-capacity",
          INTEGER,
          "256",
          between(0, 65_536),
          "decisions kept for `/router/explain`; 0 keeps none");
  static final SettingKey<Boolean> EXPLAIN_REMOTE =
      KEYS.key(
          "dynamo.router.explain-remote",
          BOOLEAN,
          "false",
          none(),
          "whether `/router/explain` answers callers of other machines");

  private RouterKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }
}
