package io.dynamo.config.frontend;

import io.dynamo.config.key.SettingType;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The bounds on the requests of one model in the frontend.
 *
 * @param running requests at once
 * @param waiting requests that wait for their turn; further ones are refused
 * @param patience how long a request may wait before it is refused
 */
public record ModelBounds(int running, int waiting, Duration patience) {
  /** The bounds when nothing is set. */
  public static final ModelBounds STANDARD = new ModelBounds(2048, 1024, Duration.ofSeconds(10));

  private static final String FORM = "model=running/waiting/wait, as in big=64/128/20s";

  static final SettingType<Map<String, ModelBounds>> BY_MODEL =
      new SettingType<>("model=running/waiting/wait, comma-separated", ModelBounds::byModel);

  private static Map<String, ModelBounds> byModel(String text) {
    var bounds = new LinkedHashMap<String, ModelBounds>();
    for (var part : text.split(",", -1)) {
      var entry = part.strip();
      if (entry.isEmpty()) {
        continue;
      }
      int split = entry.lastIndexOf('='); // a name may contain one
      var numbers = entry.substring(split + 1).split("/", -1);
      if (split < 1 || numbers.length != 3) {
        throw new IllegalArgumentException("has \"" + entry + "\", which is not " + FORM);
      }
      var name = entry.substring(0, split).strip();
      if (bounds.put(name, of(entry, numbers)) != null) {
        throw new IllegalArgumentException("names " + name + " twice");
      }
    }
    return bounds;
  }

  private static ModelBounds of(String entry, String[] numbers) {
    ModelBounds bounds;
    try {
      bounds =
          new ModelBounds(
              SettingType.INTEGER.parser().apply(numbers[0].strip()),
              SettingType.INTEGER.parser().apply(numbers[1].strip()),
              SettingType.DURATION.parser().apply(numbers[2].strip()));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "has \"%s\", in which one part %s".formatted(entry, e.getMessage()), e);
    }
    if (!AdmissionKeys.RUNNING.bound().holds().test(bounds.running)
        || !AdmissionKeys.WAITING.bound().holds().test(bounds.waiting)
        || !AdmissionKeys.WAIT.bound().holds().test(bounds.patience)) {
      throw new IllegalArgumentException(
          "has \"%s\", which must be %s, %s and %s"
              .formatted(
                  entry,
                  AdmissionKeys.RUNNING.bound().text(),
                  AdmissionKeys.WAITING.bound().text(),
                  AdmissionKeys.WAIT.bound().text()));
    }
    return bounds;
  }
}
