package io.dynamo.config.key;

import java.time.Duration;
import java.util.function.Predicate;

/**
 * The condition that a setting must fulfil once it has been read.
 *
 * @param text as in "must be {@code text}"; empty when everything is allowed
 */
public record Bound<T>(String text, Predicate<T> holds) {
  public static final Bound<Duration> WAIT =
      between(Duration.ofMillis(1), "1ms", Duration.ofHours(24), "24h");
  public static final Bound<Duration> WAIT_OR_NEVER =
      between(Duration.ZERO, "0s", Duration.ofHours(24), "24h");
  public static final Bound<Integer> PORT = between(0, 65535);

  public static <T> Bound<T> none() {
    return new Bound<>("", _ -> true);
  }

  public static Bound<Integer> between(int low, int high) {
    return new Bound<>(low + " to " + high, value -> value >= low && value <= high);
  }

  public static Bound<Integer> atLeast(int low) {
    return new Bound<>("at least " + low, value -> value >= low);
  }

  public static Bound<Integer> sizeBetween(int low, String lowText, int high, String highText) {
    return new Bound<>(lowText + " to " + highText, value -> value >= low && value <= high);
  }

  public static Bound<Double> atLeast(double low) {
    return new Bound<>("at least " + low, value -> value >= low);
  }

  public static Bound<Double> between(double low, double high) {
    return new Bound<>(plain(low) + " to " + plain(high), value -> value >= low && value <= high);
  }

  private static String plain(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  /** Returns a bound of durations; {@code lowText} and {@code highText} are their printed forms. */
  public static Bound<Duration> between(
      Duration low, String lowText, Duration high, String highText) {
    return new Bound<>(
        lowText + " to " + highText,
        value -> value.compareTo(low) >= 0 && value.compareTo(high) <= 0);
  }
}
