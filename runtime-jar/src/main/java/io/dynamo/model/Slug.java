package io.dynamo.model;

import java.util.Locale;

/** A name reduced to what fits everywhere, by Dynamo's rule. */
public final class Slug {
  private Slug() {}

  /**
   * Lower case; every character outside {@code [a-z0-9-_]} becomes {@code _}; leading {@code _} are
   * left out.
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
