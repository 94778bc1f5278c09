package io.dynamo.config.router;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.Lookup;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Builds the router's settings from their keys. */
public final class RouterReader {
  private final KeyReader from;

  public RouterReader(KeyReader from) {
    this.from = from;
  }

  /**
   * Reads the router's settings, and no others, from {@code lookup}.
   *
   * @throws InvalidSettingsException listing every bad value
   */
  static RouterSettings read(Lookup lookup) {
    var keys = new KeyReader(lookup);
    RouterKeys.all().forEach(keys::take);
    var reader = new RouterReader(keys);
    keys.addProblems(reader.problems());
    keys.refuseProblems();
    return reader.read();
  }

  /** Returns a problem for each value that Dynamo has and this router does not support. */
  public List<String> problems() {
    var problems = new ArrayList<String>();
    refuse(
        problems,
        RouterKeys.PREFILL_LOAD_MODEL,
        RouterSettings.PrefillModel.NONE,
        "there is no model of an engine's durations here");
    refuse(
        problems,
        RouterKeys.SESSION_PREFIX_INDEX,
        false,
        "no decision reads that index, in Dynamo neither");
    checkLocalPrefill(problems);
    checkSharing(problems);
    boolean keyed =
        from.optional(RouterKeys.TRACKING_HASH) == RouterSettings.TrackingHash.KEYED_XXH3_V1;
    boolean named =
        from.optional(RouterKeys.TRACKING_KEY_FILE) != null
            && from.optional(RouterKeys.TRACKING_KEY_ID) != null;
    boolean any =
        from.optional(RouterKeys.TRACKING_KEY_FILE) != null
            || from.optional(RouterKeys.TRACKING_KEY_ID) != null;
    if (keyed != any || any != named) {
      problems.add(
          "%s = \"keyed-xxh3-v1\", %s and %s are of use together only; set all three, or none"
              .formatted(
                  RouterKeys.TRACKING_HASH.name(),
                  RouterKeys.TRACKING_KEY_FILE.name(),
                  RouterKeys.TRACKING_KEY_ID.name()));
    }
    return problems;
  }

  private <T> void refuse(List<String> problems, SettingKey<T> key, T supported, String why) {
    var value = from.optional(key);
    if (value != null && !value.equals(supported)) {
      problems.add(
          "%s = \"%s\" is not supported: %s; leave it out for \"%s\""
              .formatted(key.name(), written(value), why, written(supported)));
    }
  }

  /**
   * Refuses settings that compare cached blocks of decode workers where no index follows their
   * events.
   */
  private void checkLocalPrefill(List<String> problems) {
    if (!isTrue(RouterKeys.CONDITIONAL_DISAGG)) {
      return;
    }
    var mode = from.optional(RouterKeys.MODE);
    if (isTrue(RouterKeys.LOAD_AWARE) || (mode != null && mode != RouterSettings.Mode.KV)) {
      problems.add(
          "%s = \"true\" needs %s = \"kv\" without %s; only that mode knows what decode workers have cached"
              .formatted(
                  RouterKeys.CONDITIONAL_DISAGG.name(),
                  RouterKeys.MODE.name(),
                  RouterKeys.LOAD_AWARE.name()));
    }
    if (Boolean.FALSE.equals(from.optional(RouterKeys.USE_KV_EVENTS))) {
      problems.add(
          "%s = \"true\" needs %s = \"true\"; what decode workers have cached is known by their events"
              .formatted(RouterKeys.CONDITIONAL_DISAGG.name(), RouterKeys.USE_KV_EVENTS.name()));
    }
    var policy = from.optional(RouterKeys.CONDITIONAL_DISAGG_POLICY);
    if (policy != null
        && policy != RouterSettings.LocalPrefillPolicy.ISL_BOUNDING
        && Double.isInfinite(prefillBusy())) {
      problems.add(
          "%s needs a number as %s or %s: without one no prefill worker is ever busy"
              .formatted(
                  RouterKeys.CONDITIONAL_DISAGG_POLICY.name(),
                  RouterKeys.CONDITIONAL_DISAGG_PREFILL_BUSY.name(),
                  RouterKeys.QUEUE_THRESHOLD.name()));
    }
  }

  private double prefillBusy() {
    var own = from.optional(RouterKeys.CONDITIONAL_DISAGG_PREFILL_BUSY);
    var queue = from.optional(RouterKeys.QUEUE_THRESHOLD);
    return own != null ? own : queue != null ? queue : Double.POSITIVE_INFINITY;
  }

  private RouterSettings.LocalPrefill localPrefill() {
    return new RouterSettings.LocalPrefill(
        from.get(RouterKeys.CONDITIONAL_DISAGG)
            ? from.get(RouterKeys.CONDITIONAL_DISAGG_POLICY)
            : RouterSettings.LocalPrefillPolicy.NEVER,
        from.get(RouterKeys.CONDITIONAL_DISAGG_TOKENS),
        from.get(RouterKeys.CONDITIONAL_DISAGG_RATIO),
        prefillBusy(),
        from.optional(RouterKeys.CONDITIONAL_DISAGG_DECODE_BUSY));
  }

  /** Refuses to share an index that does not follow events. */
  private void checkSharing(List<String> problems) {
    boolean loadAware = isTrue(RouterKeys.LOAD_AWARE);
    boolean serves = isTrue(RouterKeys.SERVE_INDEXER);
    boolean asks = isTrue(RouterKeys.USE_REMOTE_INDEXER);
    if (loadAware || !(serves || asks)) {
      return;
    }
    var key = (serves ? RouterKeys.SERVE_INDEXER : RouterKeys.USE_REMOTE_INDEXER).name();
    if (serves && asks) {
      problems.add(
          "%s = \"true\" and %s = \"true\" exclude each other: a router has an index, or asks one; leave one out"
              .formatted(key, RouterKeys.USE_REMOTE_INDEXER.name()));
    }
    var mode = from.optional(RouterKeys.MODE);
    if (mode != null && mode != RouterSettings.Mode.KV) {
      problems.add(
          "%s = \"true\" needs %s = \"kv\"; only that mode has an index"
              .formatted(key, RouterKeys.MODE.name()));
    }
    if (Boolean.FALSE.equals(from.optional(RouterKeys.USE_KV_EVENTS))) {
      problems.add(
          "%s = \"true\" needs %s = \"true\"; what a router only believes is not shared here"
              .formatted(key, RouterKeys.USE_KV_EVENTS.name()));
    }
  }

  private boolean isTrue(SettingKey<Boolean> key) {
    return Boolean.TRUE.equals(from.optional(key));
  }

  private RouterSettings.IndexSharing sharing(boolean loadAware) {
    if (loadAware) {
      return RouterSettings.IndexSharing.NONE;
    }
    return from.get(RouterKeys.SERVE_INDEXER)
        ? RouterSettings.IndexSharing.SERVE
        : from.get(RouterKeys.USE_REMOTE_INDEXER)
            ? RouterSettings.IndexSharing.ASK
            : RouterSettings.IndexSharing.NONE;
  }

  private RouterSettings.SharedCaching sharedCache(boolean loadAware) {
    boolean isOn =
        !loadAware && from.get(RouterKeys.SHARED_CACHE_TYPE) == RouterSettings.SharedCache.HICACHE;
    var multiplier = from.optional(RouterKeys.SHARED_CACHE_MULTIPLIER);
    return new RouterSettings.SharedCaching(
        isOn,
        !isOn ? 0 : multiplier == null ? RouterSettings.SharedCaching.MULTIPLIER : multiplier,
        from.optional(RouterKeys.SHARED_CACHE_EVENTS));
  }

  private static String written(Object value) {
    return value instanceof Enum<?> constant ? SettingType.choice(constant) : value.toString();
  }

  public RouterSettings read() {
    boolean loadAware = from.get(RouterKeys.LOAD_AWARE);
    var session = from.optional(RouterKeys.SESSION_TTL);
    return new RouterSettings(
        loadAware ? RouterSettings.Mode.KV : from.get(RouterKeys.MODE),
        costs(loadAware),
        new RouterSettings.Tracking(
            loadAware || from.get(RouterKeys.TRACK_ACTIVE_BLOCKS),
            from.get(RouterKeys.TRACK_OUTPUT_BLOCKS),
            !loadAware && from.get(RouterKeys.ASSUME_KV_REUSE),
            loadAware || from.get(RouterKeys.TRACK_PREFILL_TOKENS),
            from.get(RouterKeys.REPLICA_SYNC),
            seconds(from.get(RouterKeys.ACTIVE_REQUEST_EXPIRY)),
            keyFile()),
        new RouterSettings.Indexing(
            !loadAware && from.get(RouterKeys.USE_KV_EVENTS),
            seconds(from.get(RouterKeys.TTL)),
            optionalSeconds(from.optional(RouterKeys.PREDICTED_TTL)),
            from.get(RouterKeys.APPROXIMATE_CACHE_POLICY),
            sharing(loadAware),
            sharedCache(loadAware)),
        new RouterSettings.Queueing(
            from.get(RouterKeys.QUEUE_THRESHOLD),
            from.get(RouterKeys.QUEUE_POLICY),
            from.get(RouterKeys.QUEUE_CAPACITY),
            from.get(RouterKeys.QUEUE_TIMEOUT),
            seconds(from.get(RouterKeys.OVERLAP_REFRESH)),
            from.optional(RouterKeys.POLICY_CONFIG),
            from.get(RouterKeys.QUEUE_BATCH_TOKENS)),
        new RouterSettings.Busy(
            from.optional(RouterKeys.DECODE_BLOCKS_THRESHOLD),
            whole(from.optional(RouterKeys.PREFILL_TOKENS_THRESHOLD)),
            from.optional(RouterKeys.PREFILL_TOKENS_FRACTION)),
        new RouterSettings.Sessions(optionalSeconds(session), from.get(RouterKeys.SESSION_MODE)),
        new RouterSettings.Explaining(
            from.get(RouterKeys.EXPLAIN_CAPACITY), from.get(RouterKeys.EXPLAIN_REMOTE)),
        from.get(RouterKeys.SKIP_INITIAL_WORKER_WAIT)
            ? 0
            : from.get(RouterKeys.MIN_INITIAL_WORKERS),
        from.get(RouterKeys.CUDA_TO_CPU_RATIO),
        localPrefill());
  }

  private RouterSettings.@Nullable KeyFile keyFile() {
    var file = from.optional(RouterKeys.TRACKING_KEY_FILE);
    var id = from.optional(RouterKeys.TRACKING_KEY_ID);
    return file == null || id == null ? null : new RouterSettings.KeyFile(file, id);
  }

  private RouterSettings.Costs costs(boolean loadAware) {
    var weight = from.optional(RouterKeys.OVERLAP_SCORE_WEIGHT);
    boolean noCredit = loadAware || (weight != null && weight == 0);
    return new RouterSettings.Costs(
        noCredit ? 0 : from.get(RouterKeys.OVERLAP_SCORE_CREDIT),
        from.get(RouterKeys.OVERLAP_SCORE_CREDIT_DECAY),
        weight != null ? weight : from.get(RouterKeys.PREFILL_LOAD_SCALE),
        from.get(RouterKeys.DECODE_ACTIVE_REQUEST_WEIGHT),
        from.get(RouterKeys.HOST_CACHE_HIT_WEIGHT),
        from.get(RouterKeys.DISK_CACHE_HIT_WEIGHT),
        from.get(RouterKeys.TEMPERATURE),
        from.get(RouterKeys.TIE_BREAK),
        from.get(RouterKeys.WORKER_SELECTION_POLICY));
  }

  private static @Nullable Long whole(@Nullable Integer value) {
    return value == null ? null : (Long) value.longValue();
  }

  private static Duration seconds(double value) {
    return Duration.ofMillis(Math.round(value * 1000));
  }

  private static @Nullable Duration optionalSeconds(@Nullable Double value) {
    return value == null ? null : seconds(value);
  }
}
