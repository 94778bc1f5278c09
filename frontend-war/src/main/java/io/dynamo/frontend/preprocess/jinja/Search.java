package io.dynamo.frontend.preprocess.jinja;

import java.security.SecureRandom;

/**
 * Searches a text in another in time proportional to the sum of their lengths. {@link
 * String#indexOf} takes their product where both repeat themselves, which matters when clients
 * write both: long parts are found by their rolling hash (Karp and Rabin, 1987), under a base that
 * nobody knows.
 */
final class Search {
  private static final int SHORT = 64; // characters that are found the plain way
  private static final long PRIME = (1L << 61) - 1;
  private static final long BASE = 0x10000 + (new SecureRandom().nextLong() >>> 4);

  private Search() {}

  /** As {@link String#indexOf(String, int)}. */
  static int first(String text, String part, int from) {
    return part.length() <= SHORT
        ? text.indexOf(part, from)
        : find(text, part, from, text.length(), true);
  }

  /** As {@link String#lastIndexOf(String)} in the text before {@code end}. */
  static int last(String text, String part, int end) {
    return part.length() <= SHORT || part.length() > end
        ? text.lastIndexOf(part, end - part.length())
        : find(text, part, 0, end, false);
  }

  private static int find(String text, String part, int from, int end, boolean first) {
    int length = part.length();
    if (end - from < length) {
      return -1;
    }
    long wanted = 0;
    long hash = 0;
    long highest = 1; // the base to the power of the length less one
    for (int i = 0; i < length; i++) {
      wanted = times(wanted, BASE) + part.charAt(i);
      hash = times(hash, BASE) + text.charAt(from + i);
      highest = i == 0 ? 1 : times(highest, BASE);
    }
    wanted %= PRIME;
    hash %= PRIME;
    int found = -1;
    for (int at = from; ; at++) {
      if (hash == wanted && (!first || text.startsWith(part, at))) {
        found = at;
        if (first) {
          return found;
        }
      }
      if (at + length == end) {
        break;
      }
      long left = times(text.charAt(at), highest);
      hash = (times(hash + PRIME - left, BASE) + text.charAt(at + length)) % PRIME;
    }
    return found < 0 || text.startsWith(part, found) ? found : text.lastIndexOf(part, end - length);
  }

  /** The product modulo the prime; the factors are below 2^62. */
  private static long times(long a, long b) {
    long high = Math.multiplyHigh(a % PRIME, b % PRIME);
    long low = (a % PRIME) * (b % PRIME);
    long sum = (low & PRIME) + (low >>> 61 | high << 3);
    return sum >= PRIME ? sum - PRIME : sum;
  }
}
