package io.dynamo.model;

import java.util.Locale;

/** Reduces a name to characters that are valid everywhere, by Dynamo's rule. */
public final class Slug {
  private Slug() {}

  /**
   * Converts to lower case; every character outside {@code [a-z0-9-_]} becomes {@code _}; leading
   * {@code _} are removed.
   */
  public static String of(String name) {
    var slug = new StringBuilder();
    name.toLowerCase(Locale.ROOT)
        .codePoints()
        .forEach(
            c -> {
              char kept = isPlain(c) ? (char) c : '_';
              if (kept != '_' || !slug.isEmpty()) {
                slug.append(kept);
              }
            });
    return slug.toString();
  }

  private static boolean isPlain(int c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  }
}
