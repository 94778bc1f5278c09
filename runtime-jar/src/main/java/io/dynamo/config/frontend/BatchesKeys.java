package io.dynamo.config.frontend;

import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.LARGE_SIZE;
import static io.dynamo.config.key.SettingType.SIZE;

import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.time.Duration;
import java.util.List;

/** The settings of files and batches, in the order of the documentation. */
public final class BatchesKeys {
  private static final Bound<Long> LARGE =
      new Bound<>("1MiB to 1024GiB", value -> value >= 1L << 20 && value <= 1L << 40);

  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Boolean> ENABLED =
      KEYS.key(
          "dynamo.frontend.batches.enabled",
          BOOLEAN,
          "",
          none(),
          "serve `/v1/files` and `/v1/batches`, in the database of `dynamo.frontend.responses`;"
              + " absent serves them unless `dynamo.frontend.responses.store` is `off`");
  static final SettingKey<Integer> CONCURRENCY =
      KEYS.key(
          "dynamo.frontend.batches.concurrency",
          INTEGER,
          "8",
          between(1, 1024),
          "requests of all batches together that run at once");
  static final SettingKey<Integer> RUNNING =
      KEYS.key(
          "dynamo.frontend.batches.running",
          INTEGER,
          "16",
          between(1, 256),
          "batches that run at once and share `concurrency`; others wait for their turn");
  static final SettingKey<Long> MAX_FILE =
      KEYS.key(
          "dynamo.frontend.batches.max-file", LARGE_SIZE, "100MiB", LARGE, "bytes of one file");
  static final SettingKey<Integer> MAX_LINE =
      KEYS.key(
          "dynamo.frontend.batches.max-line",
          SIZE,
          "1MiB",
          sizeBetween(1 << 10, "1KiB", 64 << 20, "64MiB"),
          "bytes of one line of a batch; `concurrency` of them are in memory at once, and one more"
              + " of each running batch while that is read");
  static final SettingKey<Integer> MAX_LINES =
      KEYS.key(
          "dynamo.frontend.batches.max-lines",
          INTEGER,
          "50000",
          between(1, 1_000_000),
          "lines of one batch");
  static final SettingKey<Long> MAX_BYTES =
      KEYS.key(
          "dynamo.frontend.batches.max-bytes",
          LARGE_SIZE,
          "1GiB",
          LARGE,
          "bytes of all files that are kept, those of results among them; at the bound uploads are"
              + " refused and batches wait");
  static final SettingKey<Integer> MAX_FILES =
      KEYS.key(
          "dynamo.frontend.batches.max-files",
          INTEGER,
          "10000",
          between(1, 1_000_000),
          "files that are kept, those of results among them; at the bound uploads and batches are"
              + " refused");
  static final SettingKey<Integer> MAX_BATCHES =
      KEYS.key(
          "dynamo.frontend.batches.max-batches",
          INTEGER,
          "1000",
          between(1, 100_000),
          "batches that have not ended; at the bound new ones are refused. As many ended ones are"
              + " kept, the last");
  static final SettingKey<Duration> MAX_AGE =
      KEYS.key(
          "dynamo.frontend.batches.max-age",
          DURATION,
          "720h",
          between(Duration.ofMinutes(1), "1m", Duration.ofDays(3650), "87600h"),
          "how long files and ended batches are kept");

  private BatchesKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static BatchesSettings read(KeyReader reader) {
    var enabled = reader.optional(ENABLED);
    boolean isDatabaseUsed = reader.get(ResponsesKeys.STORE) != ResponsesSettings.Storing.OFF;
    return new BatchesSettings(
        enabled == null ? isDatabaseUsed : enabled,
        reader.get(CONCURRENCY),
        reader.get(RUNNING),
        reader.get(MAX_FILE),
        reader.get(MAX_LINE),
        reader.get(MAX_LINES),
        reader.get(MAX_BYTES),
        reader.get(MAX_FILES),
        reader.get(MAX_BATCHES),
        reader.get(MAX_AGE));
  }
}
