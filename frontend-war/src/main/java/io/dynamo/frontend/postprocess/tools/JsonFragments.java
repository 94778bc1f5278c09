package io.dynamo.frontend.postprocess.tools;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Escapes, decodes and repairs single JSON strings and values. */
final class JsonFragments {
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  private JsonFragments() {}

  static boolean isNumber(String text) {
    return NUMBER.matcher(text).matches();
  }

  /** Appends {@code c} as it stands within a JSON string. */
  static void escape(char c, StringBuilder out) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      case '\b' -> out.append("\\b");
      case '\f' -> out.append("\\f");
      default -> {
        if (c < 0x20) {
          out.append("\\u00").append(Character.forDigit(c >> 4, 16));
          out.append(Character.forDigit(c & 0xF, 16));
        } else {
          out.append(c);
        }
      }
    }
  }

  /** Appends {@code text} as it stands within a JSON string. */
  static StringBuilder escape(CharSequence text, StringBuilder out) {
    for (int i = 0; i < text.length(); i++) {
      escape(text.charAt(i), out);
    }
    return out;
  }

  static String quoted(CharSequence text) {
    return escape(text, new StringBuilder(text.length() + 2).append('"')).append('"').toString();
  }

  /** Decodes a JSON string, quotes included. */
  static String decode(CharSequence quoted) {
    var out = new StringBuilder(quoted.length());
    for (int i = 1; i < quoted.length() - 1; i++) {
      char c = quoted.charAt(i);
      if (c != '\\') {
        out.append(c);
        continue;
      }
      c = quoted.charAt(++i);
      switch (c) {
        case 'n' -> out.append('\n');
        case 'r' -> out.append('\r');
        case 't' -> out.append('\t');
        case 'b' -> out.append('\b');
        case 'f' -> out.append('\f');
        case 'u' -> {
          out.append((char) Integer.parseInt(quoted, i + 1, i + 5, 16));
          i += 4;
        }
        default -> out.append(c);
      }
    }
    return out.toString();
  }

  /** Reads {@code text} as one JSON value and repairs it where possible; null if it is none. */
  static @Nullable String value(String text, boolean compact) {
    var scanner = new JsonScanner(compact);
    var out = new StringBuilder(text.length());
    var trimmed = text.strip();
    for (int i = 0; i < trimmed.length(); i++) {
      var step = scanner.accept(trimmed.charAt(i), out);
      if (step == JsonScanner.Step.BAD
          || step == JsonScanner.Step.ENDED
          || (step == JsonScanner.Step.DONE && i + 1 < trimmed.length())) {
        return null;
      }
    }
    if (!scanner.complete()) {
      return null;
    }
    scanner.close(out);
    return out.toString();
  }

  /** As {@link #value}, for an object only. */
  static @Nullable String object(String text, boolean compact) {
    var value = value(text, compact);
    return value != null && value.startsWith("{") ? value : null;
  }

  /** Closes the beginning of a JSON value; a text that is none becomes a JSON string. */
  static String closed(String beginning) {
    var scanner = new JsonScanner(true);
    var out = new StringBuilder(beginning.length() + 8);
    for (int i = 0; i < beginning.length(); i++) {
      var step = scanner.accept(beginning.charAt(i), out);
      if (step != JsonScanner.Step.MORE && i + 1 < beginning.length()) {
        return quoted(beginning);
      }
    }
    int before = out.length();
    scanner.close(out);
    return before == 0 && out.isEmpty() ? quoted(beginning) : out.toString();
  }
}
