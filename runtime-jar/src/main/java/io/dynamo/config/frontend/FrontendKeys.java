package io.dynamo.config.frontend;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.WAIT_OR_NEVER;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.SIZE;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The settings of the frontend itself, in the order of the documentation. */
public final class FrontendKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Integer> MIGRATION_LIMIT =
      KEYS.key(
          "dynamo.frontend.migration-limit",
          INTEGER,
          "3",
          between(0, 1000),
          "how often one generation may move to another worker",
          plain("DYN_MIGRATION_LIMIT"));
  static final SettingKey<Integer> MAX_CONCURRENT_REQUESTS =
      KEYS.key(
          "dynamo.frontend.max-concurrent-requests",
          INTEGER,
          "4096",
          between(1, 1_000_000),
          "requests of all models at once, waiting ones included, each for as many texts as it asks"
              + " for; more are answered 503");
  static final SettingKey<Integer> BODY_LIMIT =
      KEYS.key(
          "dynamo.frontend.body-limit",
          SIZE,
          "45MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "a request body",
          numbered("DYN_HTTP_BODY_LIMIT_MB", "MiB"));
  static final SettingKey<Duration> UPLOAD_TIMEOUT =
      KEYS.key(
          "dynamo.frontend.upload-timeout",
          DURATION,
          "60s",
          WAIT,
          "how long a request body may take to arrive; then it is answered 408");
  static final SettingKey<Duration> REQUEST_TIMEOUT =
      KEYS.key("dynamo.frontend.request-timeout", DURATION, "10m", WAIT, "a generation's deadline");
  static final SettingKey<Duration> FIRST_ITEM_WAIT =
      KEYS.key(
          "dynamo.frontend.first-item-wait",
          DURATION,
          "500ms",
          WAIT_OR_NEVER,
          "how long the status line waits for the first item",
          numbered("DYN_HTTP_PRE_COMMIT_ERROR_PEEK_MS", "ms"));
  static final SettingKey<Duration> HEARTBEAT =
      KEYS.key(
          "dynamo.frontend.heartbeat",
          DURATION,
          "500ms",
          WAIT,
          "between comments on a stream without its first token");
  static final SettingKey<Duration> WRITE_STALL =
      KEYS.key(
          "dynamo.frontend.write-stall",
          DURATION,
          "30s",
          WAIT,
          "how long a stream may go without progress of its reader");
  static final SettingKey<Duration> DISCONNECT_POLL =
      KEYS.key(
          "dynamo.frontend.disconnect-poll",
          DURATION,
          "20ms",
          WAIT,
          "how long a request runs before its client is watched; one that hangs up then cancels it"
              + " at once");
  static final SettingKey<Integer> PREPROCESS_THREADS =
      KEYS.key(
          "dynamo.frontend.preprocess-threads",
          INTEGER,
          "0",
          between(0, 1024),
          "templates and tokenizers at work at once; 0 is one per core");
  static final SettingKey<Integer> PREFIX_CACHE_BYTES =
      KEYS.key(
          "dynamo.frontend.prefix-cache-bytes",
          SIZE,
          "64MiB",
          sizeBetween(0, "0", 1 << 30, "1GiB"),
          "memory for the token ids of parts of prompts, all models together, at most a sixteenth"
              + " of the heap; 0 encodes every prompt whole",
          plain("DYN_TOKENIZER_CACHE_BYTES"));
  static final SettingKey<Duration> COALESCE =
      KEYS.key(
          "dynamo.frontend.coalesce",
          DURATION,
          "0s",
          between(Duration.ZERO, "0s", Duration.ofSeconds(10), "10s"),
          "how long tokens of a stream are held to leave in one chunk, for less CPU time per token;"
              + " the first and the last never wait; 0s holds none");
  static final SettingKey<Map<String, Duration>> COALESCE_MODELS =
      KEYS.key(
          "dynamo.frontend.coalesce.models",
          Coalescing.BY_MODEL,
          "",
          none(),
          "the same for single models in place of that, as in `org/big=20ms`");
  static final SettingKey<Duration> WARM_UP =
      KEYS.key(
          "dynamo.frontend.warm-up",
          DURATION,
          "10s",
          between(Duration.ZERO, "0s", Duration.ofMinutes(1), "1m"),
          "how long synthetic requests may hold readiness back at the start, so that first requests"
              + " find compiled code; 0s sends none, and none are sent where the HTTP port has"
              + " TLS");
  public static final SettingKey<Boolean> REQUEST_LOG =
      KEYS.key(
          "dynamo.frontend.request-log",
          BOOLEAN,
          "true",
          none(),
          "whether each finished request is a line in the log, without its texts");

  private FrontendKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static FrontendSettings read(KeyReader reader) {
    var coalesce = reader.optional(COALESCE_MODELS);
    int threads = reader.get(PREPROCESS_THREADS);
    return new FrontendSettings(
        reader.get(MIGRATION_LIMIT),
        reader.get(MAX_CONCURRENT_REQUESTS),
        reader.get(BODY_LIMIT),
        reader.get(UPLOAD_TIMEOUT),
        reader.get(REQUEST_TIMEOUT),
        reader.get(FIRST_ITEM_WAIT),
        reader.get(HEARTBEAT),
        reader.get(WRITE_STALL),
        reader.get(DISCONNECT_POLL),
        threads == 0 ? Runtime.getRuntime().availableProcessors() : threads,
        reader.get(PREFIX_CACHE_BYTES),
        AdmissionKeys.read(reader),
        reader.get(AdmissionKeys.ADMIN_API),
        ResponsesKeys.read(reader),
        new Coalescing(reader.get(COALESCE), coalesce == null ? Map.of() : coalesce),
        MediaKeys.read(reader),
        reader.get(WARM_UP));
  }
}
