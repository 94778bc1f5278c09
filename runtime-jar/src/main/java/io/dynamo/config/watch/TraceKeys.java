package io.dynamo.config.watch;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DECIMAL;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.TEXT;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import io.dynamo.net.PercentText;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The settings of traces, in the order of the documentation, and their environment names. */
public final class TraceKeys {
  private static final KeyList KEYS = new KeyList();
  private static final String PATH = "/v1/traces"; // of a collector
  private static final Pattern HEADER_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");
  private static final Pattern HEADER_VALUE = Pattern.compile("[\\t -~]*");

  static final SettingKey<Boolean> EXPORT =
      KEYS.key(
          "dynamo.trace.export",
          BOOLEAN,
          "false",
          none(),
          "whether requests are traced and their spans exported by OTLP",
          plain("OTEL_EXPORT_ENABLED"));
  static final SettingKey<URI> ENDPOINT =
      KEYS.key(
          "dynamo.trace.endpoint",
          SettingType.HTTP_URL,
          "http://127.0.0.1:4318/v1/traces",
          none(),
          "the collector's URL for traces; Dynamo's variable without `_TRACES` is a base to which"
              + " `/v1/traces` is added",
          new Alias("OTEL_EXPORTER_OTLP_ENDPOINT", "", base -> base.replaceFirst("/+$", "") + PATH),
          plain("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"));
  static final SettingKey<String> PROTOCOL =
      KEYS.key(
          "dynamo.trace.protocol",
          TEXT,
          "http/protobuf",
          new Bound<>("http/protobuf, the only one here", "http/protobuf"::equals),
          "how the collector is spoken to",
          plain("OTEL_EXPORTER_OTLP_PROTOCOL"),
          plain("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"));
  static final SettingKey<Map<String, String>> HEADERS =
      KEYS.key(
          "dynamo.trace.headers",
          new SettingType<>("name=value pairs, comma-separated", TraceKeys::pairs, true),
          "",
          none(),
          "headers of each export, credentials for example",
          plain("OTEL_EXPORTER_OTLP_HEADERS"),
          plain("OTEL_EXPORTER_OTLP_TRACES_HEADERS"));
  static final SettingKey<Duration> TIMEOUT =
      KEYS.key(
          "dynamo.trace.timeout",
          DURATION,
          "10s",
          WAIT,
          "how long one export may take",
          numbered("OTEL_EXPORTER_OTLP_TIMEOUT", "ms"),
          numbered("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "ms"));
  static final SettingKey<String> SERVICE_NAME =
      KEYS.key(
          "dynamo.trace.service-name",
          TEXT,
          "dynamo",
          none(),
          "what this server is called there",
          plain("OTEL_SERVICE_NAME"));
  static final SettingKey<Double> SAMPLE_RATIO =
      KEYS.key(
          "dynamo.trace.sample-ratio",
          DECIMAL,
          "1.0",
          between(0.0, 1.0),
          "share of the traces that begin here; those of callers are as the caller decided",
          plain("OTEL_TRACES_SAMPLE_RATIO"));

  private TraceKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static TraceSettings read(KeyReader reader) {
    var headers = reader.optional(HEADERS);
    return new TraceSettings(
        reader.get(EXPORT),
        reader.get(ENDPOINT),
        headers == null ? Map.of() : headers,
        reader.get(TIMEOUT),
        reader.get(SERVICE_NAME),
        reader.get(SAMPLE_RATIO));
  }

  /**
   * Parses pairs as in HTTP headers, values percent-encoded; error messages do not show the text.
   */
  private static Map<String, String> pairs(String text) {
    var pairs = new HashMap<String, String>();
    for (var pair : text.split(",", -1)) {
      int at = pair.indexOf('=');
      if (at <= 0) {
        throw new IllegalArgumentException("has a part without a name and '='");
      }
      var name = pair.substring(0, at).strip();
      var value = decoded(pair.substring(at + 1).strip());
      if (!HEADER_NAME.matcher(name).matches() || !HEADER_VALUE.matcher(value).matches()) {
        throw new IllegalArgumentException("has a part that no HTTP header can carry");
      }
      pairs.put(name, value);
    }
    return pairs;
  }

  private static String decoded(String value) {
    try {
      return PercentText.decoded(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("has a % without two hexadecimal digits after it");
    }
  }
}
