package io.dynamo.runtime.status;

import java.util.regex.Pattern;

/** Checks lines of Prometheus' text format that another process wrote. Stateless. */
final class SampleLine {
  private static final int MAX_LENGTH = 4096;
  private static final Pattern NUMBER =
      Pattern.compile("NaN|[+-]?(?:Inf|(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?)");

  private static final Pattern TIME = Pattern.compile(" -?\\d{1,18}");

  private SampleLine() {}

  /**
   * Whether the line is one sample: a name, labels or none, a number and perhaps a time. One that
   * is not would make all of a scrape unreadable.
   */
  static boolean isOne(String line) {
    if (line.length() > MAX_LENGTH) {
      return false;
    }
    int at = nameEnd(line, 0);
    if (at == 0) {
      return false;
    }
    if (at < line.length() && line.charAt(at) == '{') {
      at = labelsEnd(line, at + 1);
    }
    int value = numberEnd(line, at);
    if (value < 0) {
      return false;
    }
    return value == line.length() || TIME.matcher(line).region(value, line.length()).matches();
  }

  /** Returns the end of the name of a metric or label at {@code from}. */
  static int nameEnd(String line, int from) {
    int at = from;
    while (at < line.length() && isOfName(line.charAt(at), at > from)) {
      at++;
    }
    return at;
  }

  private static boolean isOfName(char c, boolean within) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || c == '_'
        || c == ':'
        || (within && c >= '0' && c <= '9');
  }

  /** Returns the place after the closing brace; -1 when there is none where it must be. */
  private static int labelsEnd(String line, int from) {
    int at = from;
    while (at < line.length() && line.charAt(at) != '}') {
      int equals = nameEnd(line, at);
      if (equals == at || !line.startsWith("=\"", equals)) {
        return -1;
      }
      at = textEnd(line, equals + 2);
      if (at < 0) {
        return -1;
      }
      if (at < line.length() && line.charAt(at) == ',') {
        at++;
      } else if (at == line.length() || line.charAt(at) != '}') {
        return -1;
      }
    }
    return at < line.length() ? at + 1 : -1;
  }

  /** Returns the place after the closing quote; -1 when there is none. */
  private static int textEnd(String line, int from) {
    for (int at = from; at < line.length(); at++) {
      char c = line.charAt(at);
      if (c == '"') {
        return at + 1;
      }
      if (c == '\\') {
        at++; // what it escapes
      }
    }
    return -1;
  }

  /** Returns the end of a number behind a space; -1 when there is none. */
  private static int numberEnd(String line, int from) {
    if (from < 0 || from >= line.length() || line.charAt(from) != ' ') {
      return -1;
    }
    int space = line.indexOf(' ', from + 1);
    int end = space < 0 ? line.length() : space;
    return NUMBER.matcher(line).region(from + 1, end).matches() ? end : -1;
  }
}
