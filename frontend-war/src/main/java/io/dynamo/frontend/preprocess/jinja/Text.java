package io.dynamo.frontend.preprocess.jinja;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Python's ideas of white space, escapes and number spelling. */
final class Text {
  private static final int MAX_LENGTH = 16 << 20; // of a text that is made in one step

  private Text() {}

  /** The length of a text that is about to be made, checked. */
  static int checkedLength(long length) {
    if (length > MAX_LENGTH) {
      throw new JinjaException("a text of the template exceeds " + MAX_LENGTH + " characters");
    }
    return (int) length;
  }

  static boolean isSpace(int c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == 0x85;
  }

  /** Whether {@code repr} shows the character as it is. */
  static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      case Character.SPACE_SEPARATOR -> c == ' ';
      default -> true;
    };
  }

  /** {@code splitlines}: by all that Python takes for the end of a line. */
  static List<Object> lines(String text, boolean keepEnds) {
    var lines = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c >>> 1 == 0x1014) {
        int end = i;
        if (c == '\r' && i + 1 < text.length() && text.charAt(i + 1) == '\n') {
          i++;
        }
        lines.add(text.substring(start, keepEnds ? i + 1 : end));
        start = i + 1;
      }
    }
    if (start < text.length()) {
      lines.add(text.substring(start));
    }
    return lines;
  }

  /** How many characters of white space {@code text} ends with. */
  static int trailingSpace(String text) {
    int end = text.length();
    while (end > 0 && isSpace(text.charAt(end - 1))) {
      end--;
    }
    return text.length() - end;
  }

  static int leadingSpace(String text) {
    int start = 0;
    while (start < text.length() && isSpace(text.charAt(start))) {
      start++;
    }
    return start;
  }

  /** Appends the character of the escape at {@code at}, after the backslash; returns its end. */
  static int unescape(String source, int at, StringBuilder out) {
    char c = source.charAt(at);
    switch (c) {
      case 'n' -> out.append('\n');
      case 't' -> out.append('\t');
      case 'r' -> out.append('\r');
      case 'b' -> out.append('\b');
      case 'f' -> out.append('\f');
      case 'v' -> out.append('\u000B');
      case 'a' -> out.append('\u0007');
      case '\\', '\'', '"' -> out.append(c);
      case '\n' -> {}
      case 'x' -> {
        return hex(source, at, 2, out);
      }
      case 'u' -> {
        return hex(source, at, 4, out);
      }
      case 'U' -> {
        return hex(source, at, 8, out);
      }
      case '0', '1', '2', '3', '4', '5', '6', '7' -> {
        int value = 0;
        int end = at;
        while (end < at + 3
            && end < source.length()
            && source.charAt(end) >= '0'
            && source.charAt(end) <= '7') {
          value = value * 8 + source.charAt(end++) - '0';
        }
        out.append((char) value);
        return end;
      }
      default -> out.append('\\').append(c);
    }
    return at + 1;
  }

  private static int hex(String source, int at, int digits, StringBuilder out) {
    int end = at + 1 + digits;
    try {
      out.appendCodePoint(Integer.parseInt(source, at + 1, end, 16));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new JinjaException("a string has a broken \\" + source.charAt(at) + " escape");
    }
    return end;
  }

  /** A float as Python's {@code repr} spells it. */
  static String number(double value) {
    if (Double.isNaN(value)) {
      return "nan";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    if (value == 0) {
      return 1 / value < 0 ? "-0.0" : "0.0";
    }
    var decimal = new BigDecimal(Double.toString(Math.abs(value))).stripTrailingZeros();
    var digits = decimal.unscaledValue().toString();
    int point = digits.length() - decimal.scale();
    var sign = value < 0 ? "-" : "";
    if (point > 16 || point < -3) {
      int exponent = point - 1;
      var fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
      return "%s%s%se%s%02d"
          .formatted(
              sign, digits.charAt(0), fraction, exponent < 0 ? "-" : "+", Math.abs(exponent));
    }
    if (point <= 0) {
      return sign + "0." + "0".repeat(-point) + digits;
    }
    if (digits.length() <= point) {
      return sign + digits + "0".repeat(point - digits.length()) + ".0";
    }
    return sign + digits.substring(0, point) + "." + digits.substring(point);
  }
}
