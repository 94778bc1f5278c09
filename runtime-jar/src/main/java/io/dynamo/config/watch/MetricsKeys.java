package io.dynamo.config.watch;

import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.DECIMAL;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.TEXT;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.watch.MetricsSettings.Buckets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The settings of metrics, in the order of the documentation, and their environment names. */
public final class MetricsKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<String> PREFIX =
      KEYS.key(
          "dynamo.metrics.prefix",
          TEXT,
          "dynamo_frontend",
          none(),
          "what the names of the frontend's own metrics begin with",
          Alias.plain("DYN_METRICS_PREFIX"));

  /** One scale of histogram buckets. */
  private record Scale(
      String name, SettingKey<Double> least, SettingKey<Double> most, SettingKey<Integer> count) {
    static Scale of(String name, String least, String most, String count, String what) {
      var key = "dynamo.metrics.buckets." + name;
      var leastMeaning = "where the buckets of " + what + " begin";
      return new Scale(
          name,
          KEYS.key(key + ".min", DECIMAL, least, above(), leastMeaning, aliases(name, "MIN")),
          KEYS.key(key + ".max", DECIMAL, most, above(), "where they end", aliases(name, "MAX")),
          KEYS.key(
              key + ".count",
              INTEGER,
              count,
              between(2, 100),
              "how many they are",
              aliases(name, "COUNT")));
    }

    /** Returns the name in Dynamo's documentation, and the one that its code reads, which wins. */
    private static Alias[] aliases(String scale, String bound) {
      var documented =
          "DYN_METRICS_" + scale.toUpperCase(Locale.ROOT).replace('-', '_') + "_" + bound;
      return new Alias[] {Alias.plain(documented), Alias.plain("DYN_HISTOGRAM_" + documented)};
    }

    private static Bound<Double> above() {
      return new Bound<>("above 0", value -> value > 0);
    }
  }

  private static final List<Scale> SCALES =
      List.of(
          Scale.of("request-duration", "1", "512", "10", "requests' durations, in seconds,"),
          Scale.of("input-sequence", "50", "128000", "12", "prompts' and cached tokens"),
          Scale.of("output-sequence", "50", "32000", "10", "generated tokens"),
          Scale.of("ttft", "0.001", "480", "18", "times to the first token, in seconds,"),
          Scale.of("itl", "0.001", "80", "20", "times between tokens, in seconds,"));

  private MetricsKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /** Reports scales that end before they begin. */
  public static List<String> problems(KeyReader reader) {
    var problems = new ArrayList<String>();
    for (var scale : SCALES) {
      var least = reader.optional(scale.least);
      var most = reader.optional(scale.most);
      if (least != null && most != null && most <= least) {
        problems.add(
            "%s = \"%s\" is not above %s = \"%s\"; set a higher one, or leave both out"
                .formatted(scale.most.name(), most, scale.least.name(), least));
      }
    }
    return problems;
  }

  public static MetricsSettings read(KeyReader reader) {
    Map<String, Buckets> buckets = new HashMap<>();
    for (var scale : SCALES) {
      buckets.put(
          scale.name,
          new Buckets(reader.get(scale.least), reader.get(scale.most), reader.get(scale.count)));
    }
    return new MetricsSettings(reader.get(PREFIX), buckets);
  }
}
