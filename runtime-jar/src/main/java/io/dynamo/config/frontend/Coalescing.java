package io.dynamo.config.frontend;

import io.dynamo.config.key.SettingType;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How long tokens of a stream may be held, to leave together. Keys: {@code
 * dynamo.frontend.coalesce*}.
 *
 * @param standard for models without a length of their own; zero holds none
 * @param byModel for the other models, by name
 */
public record Coalescing(Duration standard, Map<String, Duration> byModel) {
  /** Holds nothing. */
  public static final Coalescing NONE = new Coalescing(Duration.ZERO, Map.of());

  static final SettingType<Map<String, Duration>> BY_MODEL =
      new SettingType<>("model=duration, comma-separated", Coalescing::byModel);

  public Coalescing {
    byModel = Map.copyOf(byModel);
  }

  /** Returns how long tokens of {@code model} may be held. */
  public Duration of(String model) {
    return byModel.getOrDefault(model, standard);
  }

  private static Map<String, Duration> byModel(String text) {
    var lengths = new LinkedHashMap<String, Duration>();
    for (var part : text.split(",", -1)) {
      var entry = part.strip();
      if (entry.isEmpty()) {
        continue;
      }
      int split = entry.lastIndexOf('='); // a name may contain one
      if (split < 1) {
        throw new IllegalArgumentException(
            "has \"" + entry + "\", which is not model=duration, as in big=20ms");
      }
      if (lengths.put(entry.substring(0, split).strip(), length(entry, split)) != null) {
        throw new IllegalArgumentException("names " + entry.substring(0, split).strip() + " twice");
      }
    }
    return lengths;
  }

  private static Duration length(String entry, int split) {
    Duration length;
    try {
      length = SettingType.DURATION.parser().apply(entry.substring(split + 1).strip());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "has \"%s\", in which one part %s".formatted(entry, e.getMessage()), e);
    }
    if (!FrontendKeys.COALESCE.bound().holds().test(length)) {
      throw new IllegalArgumentException(
          "has \"%s\", which must be %s".formatted(entry, FrontendKeys.COALESCE.bound().text()));
    }
    return length;
  }
}
