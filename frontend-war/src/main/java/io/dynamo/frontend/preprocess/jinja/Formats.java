package io.dynamo.frontend.preprocess.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Python's two ways to format: {@code '%s' % x} and {@code '{}'.format(x)}. */
final class Formats {
  private static final int MAX_WIDTH = 10_000;
  private static final Pattern PERCENT =
      Pattern.compile("%(?:\\((\\w+)\\))?([-+ 0#]*)(\\d+)?(?:\\.(\\d+))?([a-zA-Z%])");
  private static final Pattern SPEC =
      Pattern.compile("(?:(.)?([<>^=]))?([-+ ])?(#)?(0)?(\\d+)?(,)?(?:\\.(\\d+))?([a-zA-Z%])?");
  private static final Pattern FIELD = Pattern.compile("(\\w*)(?:!([rs]))?(?::(.*))?");

  /** How a value is laid out. */
  private record Spec(
      char fill, char align, String sign, int width, boolean commas, int precision, char type) {}

  private Formats() {}

  static String percent(String format, Object arguments) {
    var out = new StringBuilder();
    var match = PERCENT.matcher(format);
    var values = arguments instanceof Tuple tuple ? tuple : List.of(arguments);
    int used = 0;
    int at = 0;
    while (match.find()) {
      literal(format, at, match.start(), out);
      at = match.end();
      if (match.group(5).equals("%")) {
        out.append('%');
        continue;
      }
      Object value;
      if (match.group(1) != null) {
        value = Access.item(arguments, match.group(1));
      } else if (used < values.size()) {
        value = values.get(used++);
      } else {
        throw new JinjaException("not enough arguments for format string");
      }
      var flags = match.group(2);
      char type = match.group(5).charAt(0);
      boolean text = "sra".indexOf(type) >= 0;
      boolean left = flags.contains("-");
      boolean zeros = flags.contains("0") && !left && !text;
      var spec =
          new Spec(
              zeros ? '0' : ' ',
              left ? '<' : zeros ? '=' : '>',
              flags.contains("+") ? "+" : flags.contains(" ") ? " " : "",
              number(match.group(3), 0),
              false,
              number(match.group(4), -1),
              type);
      out.append(
          text
              ? padded(
                  cut(type == 's' ? Values.text(value) : Values.repr(value), spec.precision),
                  "",
                  spec)
              : numeric(value, spec));
      Text.checkedLength(out.length());
    }
    literal(format, at, format.length(), out);
    boolean isList = arguments instanceof List && !(arguments instanceof Tuple);
    boolean mayBeLeft = isList || arguments instanceof Map;
    if (used < values.size() && !mayBeLeft) {
      throw new JinjaException("not all arguments converted during string formatting");
    }
    return out.toString();
  }

  private static void literal(String format, int from, int to, StringBuilder out) {
    if (format.substring(from, to).contains("%")) {
      throw new JinjaException("incomplete format");
    }
    out.append(format, from, to);
  }

  static String braces(String format, List<Object> positional, Map<String, Object> named) {
    var out = new StringBuilder();
    int next = 0;
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      boolean doubled = i + 1 < format.length() && format.charAt(i + 1) == c;
      if ((c == '{' || c == '}') && doubled) {
        out.append(c);
        i++;
      } else if (c == '{') {
        int end = format.indexOf('}', i);
        var field = FIELD.matcher(end < 0 ? "." : format.substring(i + 1, end));
        if (!field.matches()) {
          throw new JinjaException("format() does not know the field at " + i);
        }
        var name = field.group(1);
        boolean index = !name.isEmpty() && name.chars().allMatch(Character::isDigit);
        Object value;
        if (name.isEmpty() || index) {
          int position = index ? number(name, 0) : next++;
          if (position >= positional.size()) {
            throw new JinjaException(
                "Replacement index " + position + " out of range for positional args tuple");
          }
          value = positional.get(position);
        } else if (named.containsKey(name)) {
          value = named.get(name);
        } else {
          throw new JinjaException("'" + name + "'");
        }
        var shown = "r".equals(field.group(2)) ? Values.repr(value) : value;
        out.append(formatted(shown, field.group(3) == null ? "" : field.group(3)));
        Text.checkedLength(out.length());
        i = end;
      } else if (c == '}') {
        throw new JinjaException("Single '}' encountered in format string");
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  private static String formatted(Object value, String text) {
    var match = SPEC.matcher(text);
    if (!match.matches()) {
      throw new JinjaException("Invalid format specifier '" + text + "'");
    }
    boolean number = Values.number(value) != null && !(value instanceof Boolean && text.isEmpty());
    boolean zeros = match.group(5) != null;
    var spec =
        new Spec(
            match.group(1) != null ? match.group(1).charAt(0) : zeros ? '0' : ' ',
            match.group(2) != null
                ? match.group(2).charAt(0)
                : zeros && number ? '=' : number ? '>' : '<',
            "-".equals(match.group(3)) || match.group(3) == null ? "" : match.group(3),
            number(match.group(6), 0),
            match.group(7) != null,
            number(match.group(8), -1),
            match.group(9) == null ? ' ' : match.group(9).charAt(0));
    return number && spec.type != 's'
        ? numeric(value, spec)
        : padded(cut(Values.text(value), spec.precision), "", spec);
  }

  private static String numeric(Object value, Spec spec) {
    var number = Values.number(value);
    if (number == null) {
      throw new JinjaException(
          "%%%s format: a real number is required, not %s"
              .formatted(spec.type, Values.typeName(value)));
    }
    boolean floating = number instanceof Double;
    var digits =
        switch (spec.type) {
          case 'd', 'i', 'u' -> whole(number).abs().toString();
          case 'x' -> whole(number).abs().toString(16);
          case 'X' -> whole(number).abs().toString(16).toUpperCase(Locale.ROOT);
          case 'o' -> whole(number).abs().toString(8);
          case 'b' -> whole(number).abs().toString(2);
          case 'f', 'F' -> fixed(number, spec.precision < 0 ? 6 : spec.precision);
          case '%' ->
              fixed(number.doubleValue() * 100, spec.precision < 0 ? 6 : spec.precision) + "%";
          case 'e' ->
              String.format(
                  Locale.ROOT,
                  "%." + (spec.precision < 0 ? 6 : spec.precision) + "e",
                  Math.abs(number.doubleValue()));
          case ' ' -> {
            if (floating && spec.precision >= 0) {
              throw new JinjaException("a precision needs a type here");
            }
            yield floating
                ? Text.number(Math.abs(number.doubleValue()))
                : whole(number).abs().toString();
          }
          default ->
              throw new JinjaException("Unknown format code '" + spec.type + "' for a number");
        };
    boolean negative = floating ? number.doubleValue() < 0 : whole(number).signum() < 0;
    return padded(spec.commas ? grouped(digits) : digits, negative ? "-" : spec.sign, spec);
  }

  private static BigInteger whole(Number number) {
    return number instanceof Double floating
        ? new BigDecimal(floating).toBigInteger()
        : Values.big(number);
  }

  private static String fixed(Number number, int precision) {
    double value = number.doubleValue();
    if (!Double.isFinite(value)) {
      return Text.number(Math.abs(value));
    }
    return new BigDecimal(value)
        .abs()
        .setScale(Math.min(precision, MAX_WIDTH), RoundingMode.HALF_EVEN)
        .toPlainString();
  }

  private static String grouped(String digits) {
    int end = digits.indexOf('.') < 0 ? digits.length() : digits.indexOf('.');
    var out = new StringBuilder(digits);
    for (int i = end - 3; i > 0; i -= 3) {
      out.insert(i, ',');
    }
    return out.toString();
  }

  private static String padded(String text, String sign, Spec spec) {
    int missing = Math.max(0, spec.width - (int) Values.length(text) - sign.length());
    var fill = String.valueOf(spec.fill);
    return switch (spec.align) {
      case '<' -> sign + text + fill.repeat(missing);
      case '^' -> fill.repeat(missing / 2) + sign + text + fill.repeat(missing - missing / 2);
      case '=' -> sign + fill.repeat(missing) + text;
      default -> fill.repeat(missing) + sign + text;
    };
  }

  private static String cut(String text, int precision) {
    return precision < 0 || Values.length(text) <= precision
        ? text
        : text.substring(0, text.offsetByCodePoints(0, precision));
  }

  private static int number(@Nullable String digits, int otherwise) {
    if (digits == null) {
      return otherwise;
    }
    if (digits.length() > 5 || Integer.parseInt(digits) > MAX_WIDTH) {
      throw new JinjaException("a format is wider than " + MAX_WIDTH);
    }
    return Integer.parseInt(digits);
  }
}
