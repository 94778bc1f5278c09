package io.dynamo.config.watch;

import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.LARGE_SIZE;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.SIZE;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import io.dynamo.config.watch.RequestTraceSettings.FileFormat;
import io.dynamo.config.watch.RequestTraceSettings.Kind;
import io.dynamo.config.watch.RequestTraceSettings.Sink;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** The settings of the records of requests, in the order of the documentation. */
public final class RequestTraceKeys {
  private static final String PREFIX = "dynamo.frontend.request-trace.";
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Boolean> ENABLED =
      KEYS.key(
          PREFIX + "enabled",
          BOOLEAN,
          "false",
          none(),
          "write records of each finished generation, in the form of Dynamo's request traces",
          Alias.plain("DYN_REQUEST_TRACE"));
  static final SettingKey<Set<Kind>> RECORDS =
      KEYS.key(
          PREFIX + "records",
          SettingType.setOf(Kind.class),
          "request-end,tool",
          none(),
          "which records: `request-end` has no texts, `request-payload` is the request and its"
              + " answer, `tool` a use of a tool, where programs report them",
          new Alias("DYN_REQUEST_TRACE_RECORDS", "", text -> text.replace('_', '-')));
  static final SettingKey<Set<Sink>> SINKS =
      KEYS.key(
          PREFIX + "sinks",
          SettingType.setOf(Sink.class),
          "file",
          none(),
          "where records go",
          Alias.plain("DYN_REQUEST_TRACE_SINKS"));
  static final SettingKey<Path> FILE_PATH =
      KEYS.key(
          PREFIX + "file-path",
          PATH,
          "${server.output.dir}/logs/request-trace",
          none(),
          "the beginning of the files' names, which end in a number and `.jsonl` or `.jsonl.gz`;"
              + " files have mode 600",
          Alias.plain("DYN_REQUEST_TRACE_FILE_PATH"));
  static final SettingKey<FileFormat> FILE_FORMAT =
      KEYS.key(
          PREFIX + "file-format",
          SettingType.oneOf(FileFormat.class),
          "jsonl-gz",
          none(),
          "whether files are compressed",
          new Alias("DYN_REQUEST_TRACE_FILE_FORMAT", "", text -> text.replace('_', '-')));
  static final SettingKey<Duration> FLUSH_INTERVAL =
      KEYS.key(
          PREFIX + "flush-interval",
          DURATION,
          "1s",
          between(Duration.ofMillis(1), "1ms", Duration.ofMinutes(10), "10m"),
          "how long a record may wait for others before it is in the file",
          Alias.numbered("DYN_REQUEST_TRACE_FILE_FLUSH_INTERVAL_MS", "ms"));
  static final SettingKey<Long> ROLL_BYTES =
      KEYS.key(
          PREFIX + "roll-bytes",
          LARGE_SIZE,
          "256MiB",
          new Bound<>("1KiB to 64GiB", value -> value >= 1L << 10 && value <= 1L << 36),
          "bytes of a file before compression, after which the next one begins",
          Alias.plain("DYN_REQUEST_TRACE_FILE_ROLL_BYTES"));
  static final SettingKey<Integer> ROLL_LINES =
      KEYS.key(
          PREFIX + "roll-lines",
          INTEGER,
          "",
          between(1, Integer.MAX_VALUE),
          "lines of a file, after which the next one begins; absent for no bound",
          Alias.plain("DYN_REQUEST_TRACE_FILE_ROLL_LINES"));
  static final SettingKey<Integer> MAX_FILES =
      KEYS.key(
          PREFIX + "max-files",
          INTEGER,
          "16",
          between(1, 100_000),
          "files that are kept; the oldest are deleted");
  static final SettingKey<Integer> CAPACITY =
      KEYS.key(
          PREFIX + "capacity",
          INTEGER,
          "1024",
          between(1, 1_000_000),
          "records that may wait to be written; more are lost and counted",
          Alias.plain("DYN_REQUEST_TRACE_CAPACITY"));
  static final SettingKey<List<String>> HEADERS =
      KEYS.key(
          PREFIX + "headers",
          SettingType.NAMES,
          "",
          none(),
          "names of the request headers that a `request-payload` repeats; the values of those that"
              + " carry credentials are masked",
          Alias.plain("DYN_REQUEST_TRACE_HTTP_HEADER_CAPTURE_LIST"));
  static final SettingKey<Integer> MAX_PAYLOAD =
      KEYS.key(
          PREFIX + "max-payload",
          SIZE,
          "4MiB",
          new Bound<>("1KiB to 64MiB", value -> value >= 1 << 10 && value <= 1 << 26),
          "bytes of a recorded request, and of a recorded answer; a longer one is left out");

  static {
    KEYS.addAll(RecordSinkKeys.all());
    KEYS.addAll(ToolEventKeys.all());
  }

  private RequestTraceKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /**
   * Checks what one setting demands of others.
   *
   * @param openPlanes the consent to records that leave the host in the clear
   */
  public static void check(KeyReader reader, SettingKey<Boolean> openPlanes) {
    if (goesTo(reader, Sink.S3)) {
      RecordSinkKeys.checkS3(reader);
      RecordSinkKeys.checkSecrecy(reader, RecordSinkKeys.S3_ENDPOINT, openPlanes);
    }
    if (goesTo(reader, Sink.OTEL)) {
      RecordSinkKeys.checkSecrecy(reader, RecordSinkKeys.OTEL_ENDPOINT, openPlanes);
    }
    if (Boolean.TRUE.equals(reader.optional(ENABLED))) {
      var records = reader.optional(RECORDS);
      ToolEventKeys.check(reader, records == null || records.contains(Kind.TOOL), openPlanes);
    }
  }

  /** Whether records are written to a sink. */
  public static boolean goesTo(KeyReader reader, Sink sink) {
    return Boolean.TRUE.equals(reader.optional(ENABLED))
        && Objects.requireNonNullElse(reader.optional(SINKS), Set.<Sink>of()).contains(sink);
  }

  public static RequestTraceSettings read(KeyReader reader) {
    var sinks = reader.get(SINKS);
    return new RequestTraceSettings(
        reader.get(RECORDS),
        reader.get(ENABLED) ? sinks : Set.of(),
        reader.get(FILE_PATH),
        reader.get(FILE_FORMAT),
        reader.get(FLUSH_INTERVAL),
        reader.get(ROLL_BYTES),
        reader.optional(ROLL_LINES),
        reader.get(MAX_FILES),
        reader.get(CAPACITY),
        Objects.requireNonNullElse(reader.optional(HEADERS), List.<String>of()).stream()
            .map(name -> name.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet()),
        reader.get(MAX_PAYLOAD),
        RecordSinkKeys.read(reader, goesTo(reader, Sink.S3)),
        reader.get(ENABLED) ? ToolEventKeys.read(reader) : null);
  }
}
