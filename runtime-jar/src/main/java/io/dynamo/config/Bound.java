package io.dynamo.config;

import java.time.Duration;
import java.util.function.Predicate;

/**
 * What a setting must fulfil once it has been read.
 *
 * @param text as in "must be {@code text}"; empty when everything is allowed
 */
record Bound<T>(String text, Predicate<T> holds) {
  static <T> Bound<T> none() {
    return new Bound<>("", _ -> true);
  }

  static Bound<Integer> between(int low, int high) {
    return new Bound<>(low + " to " + high, value -> value >= low && value <= high);
  }

  static Bound<Integer> atLeast(int low) {
    return new Bound<>("at least " + low, value -> value >= low);
  }

  static Bound<Integer> sizeBetween(int low, String lowText, int high, String highText) {
    return new Bound<>(lowText + " to " + highText, value -> value >= low && value <= high);
  }

  static Bound<Double> atLeast(double low) {
    return new Bound<>("at least " + low, value -> value >= low);
  }

  /** Durations; {@code lowText} and {@code highText} are how they are printed. */
  static Bound<Duration> between(Duration low, String lowText, Duration high, String highText) {
    return new Bound<>(
        lowText + " to " + highText,
        value -> value.compareTo(low) >= 0 && value.compareTo(high) <= 0);
  }
}
