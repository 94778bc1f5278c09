package io.dynamo.frontend.postprocess;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Searches a growing text for stop strings and holds back a possible beginning of one. The match
 * depends on the text alone, not on how it is cut: the first stop to be complete wins, then the
 * longest. For one thread.
 */
final class StopStrings {
  private final List<String> stops;
  private final int longest;
  private final boolean include;

  /** The undelivered text, behind those delivered characters that a stop may still include. */
  private final StringBuilder window = new StringBuilder();

  private int delivered;
  private int searched;
  private int from; // where a stop may begin
  private @Nullable String matched;

  /**
   * @param include whether the stop is part of the text; then nothing is held back
   */
  StopStrings(List<String> stops, boolean include) {
    this.stops = stops.stream().filter(stop -> !stop.isEmpty()).toList();
    this.longest = this.stops.stream().mapToInt(String::length).max().orElse(0);
    this.include = include;
  }

  /** The buffer to append new text to; call {@link #search} or {@link #pass} afterwards. */
  StringBuilder buffer() {
    return window;
  }

  @Nullable String matched() {
    return matched;
  }

  /** Searches for a stop that ends in the new text, and cuts the text there. */
  boolean search() {
    for (int end = searched + 1; end <= window.length(); end++) {
      var stop = endingAt(end);
      if (stop != null) {
        matched = stop;
        window.setLength(include ? end : end - stop.length());
        searched = window.length();
        return true;
      }
    }
    searched = window.length();
    return false;
  }

  /** Accepts the new text without a search, as no part of a stop. */
  void pass() {
    searched = window.length();
    from = searched;
  }

  /** Moves the text that can no longer become part of a stop to {@code out}. */
  void drainSafe(StringBuilder out) {
    drain(out, include ? window.length() : window.length() - heldBack());
  }

  /** Moves everything to {@code out}. */
  void drainAll(StringBuilder out) {
    drain(out, window.length());
  }

  private void drain(StringBuilder out, int end) {
    if (end > delivered) {
      out.append(window, delivered, end);
      delivered = end;
    }
    int stale = Math.min(delivered, window.length() - Math.max(0, longest - 1));
    if (stale > 0) {
      window.delete(0, stale);
      delivered -= stale;
      searched -= stale;
      from = Math.max(0, from - stale);
    }
  }

  private @Nullable String endingAt(int end) {
    String found = null;
    char last = window.charAt(end - 1);
    for (int i = 0; i < stops.size(); i++) {
      var stop = stops.get(i);
      int length = stop.length();
      if (stop.charAt(length - 1) == last
          && length <= end - from
          && (found == null || length > found.length())
          && matches(stop, end - length, length)) {
        found = stop;
      }
    }
    return found;
  }

  private int heldBack() {
    int most = Math.min(longest - 1, window.length() - Math.max(delivered, from));
    for (int length = most; length > 0; length--) {
      int from = window.length() - length;
      for (int i = 0; i < stops.size(); i++) {
        var stop = stops.get(i);
        if (stop.length() > length && matches(stop, from, length)) {
          return length;
        }
      }
    }
    return 0;
  }

  private boolean matches(String stop, int from, int length) {
    for (int i = 0; i < length; i++) {
      if (window.charAt(from + i) != stop.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
