package io.dynamo.frontend.media;

import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How long an answer may be kept, by its headers (RFC 9111). Stateless. */
final class Freshness {
  private static final long UNSAID = 300; // seconds
  private static final long LONGEST = 3600;
  private static final Set<String> NOT_KEPT =
      Set.of("no-store", "no-cache", "private", "must-understand");

  private Freshness() {}

  /**
   * Returns the seconds for which an answer may be kept; 0 is not at all.
   *
   * @param control the header {@code Cache-Control}; null for none
   * @param vary the header {@code Vary}; null for none
   */
  static long seconds(@Nullable String control, @Nullable String vary) {
    if (vary != null && vary.contains("*")) {
      return 0;
    }
    if (control == null) {
      return UNSAID;
    }
    long seconds = UNSAID;
    boolean shared = false;
    for (var directive : control.toLowerCase(Locale.ROOT).split(",", -1)) {
      var parts = directive.strip().split("=", 2);
      var name = parts[0].strip();
      if (NOT_KEPT.contains(name)) {
        return 0;
      }
      boolean isShared = name.equals("s-maxage");
      if (parts.length == 2 && (isShared || (name.equals("max-age") && !shared))) {
        seconds = age(parts[1]);
        shared = isShared;
      }
    }
    return Math.min(LONGEST, seconds);
  }

  private static long age(String text) {
    var digits = text.strip().replace("\"", "");
    return digits.matches("\\d{1,9}") ? Long.parseLong(digits) : 0;
  }
}
