package io.dynamo.config.router;

import static io.dynamo.config.key.SettingType.DECIMAL;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.SettingType;
import java.util.Locale;

/** The types of values that only the router's settings have. */
final class RouterTypes {
  /** The value that turns a threshold off. */
  private static final double OFF = Double.POSITIVE_INFINITY;

  static final SettingType<RouterSettings.Mode> MODE =
      new SettingType<>(
          oneOf(RouterSettings.Mode.class).name(),
          text ->
              switch (text.toLowerCase(Locale.ROOT).replace('_', '-')) {
                case "power-of-two-choices" -> RouterSettings.Mode.POWER_OF_TWO;
                case String name -> oneOf(RouterSettings.Mode.class).parser().apply(name);
              });
  static final SettingType<RouterSettings.Policy> POLICY =
      new SettingType<>(
          "default, dynamo-default-cost-fn or dynamo-two-tier-cost-fn",
          text ->
              switch (text) {
                case "default", "dynamo-default-cost-fn" -> RouterSettings.Policy.COST;
                case "dynamo-two-tier-cost-fn" -> RouterSettings.Policy.TWO_TIER;
                default ->
                    throw new IllegalArgumentException(
                        "is not default, dynamo-default-cost-fn or dynamo-two-tier-cost-fn");
              });
  static final SettingType<RouterSettings.LocalPrefillPolicy> LOCAL_PREFILL =
      new SettingType<>(
          "isl-bounding, prefill-load or isl-or-load",
          text ->
              switch (text.toLowerCase(Locale.ROOT).replace('_', '-')) {
                case "isl-bounding" -> RouterSettings.LocalPrefillPolicy.ISL_BOUNDING;
                case "prefill-load" -> RouterSettings.LocalPrefillPolicy.PREFILL_LOAD;
                case "isl-or-load" -> RouterSettings.LocalPrefillPolicy.ISL_OR_LOAD;
                default ->
                    throw new IllegalArgumentException(
                        "is not isl-bounding, prefill-load or isl-or-load");
              });
  static final SettingType<Double> THRESHOLD =
      new SettingType<>(
          "number of at least 0, or off",
          text -> {
            double value = text.equalsIgnoreCase("off") ? OFF : DECIMAL.parser().apply(text);
            if (value < 0) {
              throw new IllegalArgumentException("is below 0");
            }
            return value;
          });
  static final SettingType<String> PUBLISHER =
      new SettingType<>(
          "tcp://host:port",
          text -> {
            if (!text.matches("tcp://[^\\s/]+:[0-9]{1,5}")) {
              throw new IllegalArgumentException("is not tcp://host:port");
            }
            return text;
          });

  private RouterTypes() {}
}
