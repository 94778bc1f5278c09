package io.dynamo.config.watch;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.LARGE_SIZE;
import static io.dynamo.config.key.SettingType.SIZE;
import static io.dynamo.config.key.SettingType.TEXT;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import io.dynamo.config.watch.RecordSinkSettings.S3Settings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The settings of the servers that records of requests may go to. */
final class RecordSinkKeys {
  private static final String PREFIX = "dynamo.frontend.request-trace.";
  private static final KeyList KEYS = new KeyList();
  private static final SettingType<String> SECRET = new SettingType<>("text", text -> text, true);
  private static final Pattern SUBJECT =
      Pattern.compile("[!-)+-=?-~&&[^.]]+(\\.[!-)+-=?-~&&[^.]]+)*");
  private static final Pattern BUCKET = Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]");
  private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,64}");
  private static final Pattern FOLDERS = Pattern.compile("[A-Za-z0-9._~=-]+(/[A-Za-z0-9._~=-]+)*");
  private static final Pattern CREDENTIAL = Pattern.compile("[!-~]+");
  private static final int MOST_CHARS = 255;

  static final SettingKey<String> NATS_SUBJECT =
      KEYS.key(
          PREFIX + "nats-subject",
          TEXT,
          "dynamo.request_trace.v1",
          new Bound<>(
              "a subject without spaces and wildcards",
              text -> text.length() <= MOST_CHARS && SUBJECT.matcher(text).matches()),
          "the subject of the messages of the sink `nats`; servers and credentials are"
              + " `dynamo.nats.*`",
          plain("DYN_REQUEST_TRACE_NATS_SUBJECT"));
  static final SettingKey<URI> OTEL_ENDPOINT =
      KEYS.key(
          PREFIX + "otel-endpoint",
          SettingType.HTTP_URL,
          "http://127.0.0.1:4318/v1/logs",
          none(),
          "the collector's URL for logs, of the sink `otel`; headers, timeout and service name are"
              + " `dynamo.trace.*`",
          new Alias(
              "OTEL_EXPORTER_OTLP_ENDPOINT", "", base -> base.replaceFirst("/+$", "") + "/v1/logs"),
          plain("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"));
  static final SettingKey<Integer> OTEL_MAX_PAYLOAD =
      KEYS.key(
          PREFIX + "otel-max-payload",
          SIZE,
          "4MiB",
          new Bound<>("1KiB to 64MiB", value -> value >= 1 << 10 && value <= 1 << 26),
          "bytes of an exported record; a larger one goes without its texts",
          plain("DYN_REQUEST_TRACE_OTEL_MAX_PAYLOAD_BYTES"));
  static final SettingKey<String> S3_BUCKET =
      KEYS.key(
          PREFIX + "s3-bucket",
          TEXT,
          "",
          new Bound<>("3 to 63 of a-z, 0-9, . and -", text -> BUCKET.matcher(text).matches()),
          "the bucket of the sink `s3`",
          plain("DYN_REQUEST_TRACE_S3_BUCKET"));
  static final SettingKey<String> S3_REGION =
      KEYS.key(
          PREFIX + "s3-region",
          TEXT,
          "us-east-1",
          new Bound<>("a-z, 0-9 and -", text -> REGION.matcher(text).matches()),
          "the bucket's region",
          plain("AWS_DEFAULT_REGION"),
          plain("AWS_REGION"),
          plain("DYN_REQUEST_TRACE_S3_REGION"));
  static final SettingKey<String> S3_PREFIX =
      KEYS.key(
          PREFIX + "s3-prefix",
          TEXT,
          "",
          new Bound<>(
              "names of A-Z, a-z, 0-9, ._~=- with slashes between them",
              text -> text.length() <= MOST_CHARS && FOLDERS.matcher(text).matches()),
          "the beginning of the objects' names",
          new Alias("DYN_REQUEST_TRACE_S3_PREFIX", "", RecordSinkKeys::withoutSlashes));
  static final SettingKey<Long> S3_ROLL_BYTES =
      KEYS.key(
          PREFIX + "s3-roll-bytes",
          LARGE_SIZE,
          "64MiB",
          new Bound<>("1KiB to 256MiB", value -> value >= 1L << 10 && value <= 1L << 28),
          "bytes of an object before compression, after which it is put; twice as many are held at"
              + " most",
          plain("DYN_REQUEST_TRACE_S3_ROLL_UNCOMPRESSED_BYTES"));
  static final SettingKey<Duration> S3_FLUSH_INTERVAL =
      KEYS.key(
          PREFIX + "s3-flush-interval",
          DURATION,
          "10s",
          between(Duration.ofMillis(1), "1ms", Duration.ofHours(1), "1h"),
          "how long a record may wait for others before its object is put",
          numbered("DYN_REQUEST_TRACE_S3_FLUSH_INTERVAL_MS", "ms"));
  static final SettingKey<URI> S3_ENDPOINT =
      KEYS.key(
          PREFIX + "s3-endpoint",
          SettingType.HTTP_URL,
          "",
          new Bound<>(
              "without query and fragment",
              url -> url.getRawQuery() == null && url.getRawFragment() == null),
          "a server that speaks S3; absent for Amazon's of the region",
          plain("AWS_ENDPOINT_URL"),
          plain("AWS_ENDPOINT_URL_S3"));
  static final SettingKey<String> S3_ACCESS_KEY = credential("s3-access-key", "AWS_ACCESS_KEY_ID");
  static final SettingKey<String> S3_SECRET_KEY =
      credential("s3-secret-key", "AWS_SECRET_ACCESS_KEY");
  static final SettingKey<String> S3_SESSION_TOKEN =
      credential("s3-session-token", "AWS_SESSION_TOKEN");

  private RecordSinkKeys() {}

  private static SettingKey<String> credential(String name, String variable) {
    return KEYS.key(
        PREFIX + name,
        SECRET,
        "",
        new Bound<>("printable characters", text -> CREDENTIAL.matcher(text).matches()),
        "a credential of the sink `s3`",
        plain(variable));
  }

  private static String withoutSlashes(String text) {
    return text.replaceAll("^/+|/+$", "");
  }

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /**
   * @param puts whether records go to S3
   */
  static RecordSinkSettings read(KeyReader reader, boolean puts) {
    return new RecordSinkSettings(
        reader.get(NATS_SUBJECT),
        reader.get(OTEL_ENDPOINT),
        reader.get(OTEL_MAX_PAYLOAD),
        puts ? s3(reader) : null);
  }

  /** Refuses a bucket that cannot be written to. */
  static void checkS3(KeyReader reader) {
    var bucket = reader.optional(S3_BUCKET);
    var accessKey = reader.optional(S3_ACCESS_KEY);
    var secretKey = reader.optional(S3_SECRET_KEY);
    if (bucket == null) {
      reader.addProblem(
          "dynamo.frontend.request-trace.sinks names s3, but there is no %s; set the bucket, or leave s3 out"
              .formatted(S3_BUCKET.name()));
    }
    if (accessKey == null || secretKey == null) {
      reader.addProblem(
          "dynamo.frontend.request-trace.sinks names s3, but %s and %s are not both set; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or leave s3 out"
              .formatted(S3_ACCESS_KEY.name(), S3_SECRET_KEY.name()));
    }
  }

  /**
   * Refuses a server of another machine that records would reach without TLS and without consent.
   *
   * @param endpoint of the sink
   * @param openPlanes the consent
   */
  static void checkSecrecy(
      KeyReader reader, SettingKey<URI> endpoint, SettingKey<Boolean> openPlanes) {
    var url = reader.optional(endpoint);
    if (url != null
        && "http".equalsIgnoreCase(url.getScheme())
        && !KeyReader.isLoopback(String.valueOf(url.getHost()))
        && !Boolean.TRUE.equals(reader.optional(openPlanes))) {
      reader.addProblem(
          "%s names %s, which records of requests would reach in the clear; use https://, or accept that with %s=true"
              .formatted(endpoint.name(), url.getHost(), openPlanes.name()));
    }
  }

  private static @Nullable S3Settings s3(KeyReader reader) {
    var bucket = reader.optional(S3_BUCKET);
    var accessKey = reader.optional(S3_ACCESS_KEY);
    var secretKey = reader.optional(S3_SECRET_KEY);
    if (bucket == null || accessKey == null || secretKey == null) {
      return null; // checkS3() has refused it
    }
    return new S3Settings(
        bucket,
        reader.get(S3_REGION),
        Objects.requireNonNullElse(reader.optional(S3_PREFIX), ""),
        reader.get(S3_ROLL_BYTES),
        reader.get(S3_FLUSH_INTERVAL),
        reader.optional(S3_ENDPOINT),
        accessKey,
        secretKey,
        reader.optional(S3_SESSION_TOKEN));
  }
}
