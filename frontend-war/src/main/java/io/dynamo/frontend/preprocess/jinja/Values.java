package io.dynamo.frontend.preprocess.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Python's rules for the values of a template: {@link None}, Boolean, Long, BigInteger, Double,
 * String, List, Map, {@link Undefined}, {@link Namespace}, {@link Loop}, {@link Function}.
 */
final class Values {
  private static final BigInteger LONG_MIN = BigInteger.valueOf(Long.MIN_VALUE);
  private static final int MAX_CHARACTERS = 100_000;
  private static final BigInteger LONG_MAX = BigInteger.valueOf(Long.MAX_VALUE);

  private Values() {}

  /** A value from outside, copied; anything that is not data becomes its text. */
  static Object of(@Nullable Object value) {
    return switch (value) {
      case null -> None.NONE;
      case String text -> text;
      case Boolean bool -> bool;
      case BigInteger number -> integer(number);
      case BigDecimal number -> number.doubleValue();
      case Double number -> number;
      case Float number -> number.doubleValue();
      case Number number -> number.longValue();
      case List<?> list -> {
        var copy = new ArrayList<>(list.size());
        for (var item : list) {
          copy.add(of(item));
        }
        yield copy;
      }
      case Map<?, ?> map -> {
        var copy = new LinkedHashMap<Object, Object>();
        map.forEach((key, item) -> copy.put(of(key), of(item)));
        yield copy;
      }
      default -> value.toString();
    };
  }

  static Object integer(BigInteger value) {
    return value.compareTo(LONG_MIN) >= 0 && value.compareTo(LONG_MAX) <= 0
        ? (Object) value.longValue()
        : value;
  }

  static boolean isTrue(Object value) {
    return switch (value) {
      case None _ -> false;
      case Undefined _ -> false;
      case Boolean bool -> bool;
      case Double number -> number != 0;
      case BigInteger number -> number.signum() != 0;
      case Number number -> number.longValue() != 0;
      case String text -> !text.isEmpty();
      case List<?> list -> !list.isEmpty();
      case Map<?, ?> map -> !map.isEmpty();
      default -> true;
    };
  }

  /** {@code str(value)}. */
  static String text(Object value) {
    return value instanceof String text ? text : spell(value, false);
  }

  /** {@code repr(value)}. */
  static String repr(Object value) {
    return spell(value, true);
  }

  private static String spell(Object value, boolean quote) {
    var out = new StringBuilder();
    spell(value, quote, out);
    return out.toString();
  }

  private static void spell(Object value, boolean quote, StringBuilder out) {
    switch (value) {
      case String text when quote -> quoted(text, out);
      case String text -> out.append(text);
      case None _ -> out.append("None");
      case Boolean bool -> out.append(bool ? "True" : "False");
      case Double number -> out.append(Text.number(number));
      case Number number -> out.append(number);
      case Undefined _ -> out.append(quote ? "Undefined" : "");
      case Tuple tuple -> spell(tuple, "(", tuple.size() == 1 ? ",)" : ")", out);
      case List<?> list -> spell(list, "[", "]", out);
      case Map<?, ?> map -> {
        var separator = "{";
        for (var entry : map.entrySet()) {
          spell(entry.getKey(), true, out.append(separator));
          spell(entry.getValue(), true, out.append(": "));
          separator = ", ";
        }
        out.append(map.isEmpty() ? "{}" : "}");
      }
      default -> out.append('<').append(typeName(value)).append('>');
    }
    Text.checkedLength(out.length());
  }

  private static void spell(List<?> items, String open, String close, StringBuilder out) {
    var separator = open;
    for (var item : items) {
      spell(item, true, out.append(separator));
      separator = ", ";
    }
    out.append(items.isEmpty() ? open : "").append(close);
  }

  private static void quoted(String text, StringBuilder out) {
    char quote = text.contains("'") && !text.contains("\"") ? '"' : '\'';
    out.append(quote);
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      switch (c) {
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\\' -> out.append("\\\\");
        default -> {
          if (c == quote) {
            out.append('\\').appendCodePoint(c);
          } else if (Text.isPrintable(c)) {
            out.appendCodePoint(c);
          } else {
            escape(c, out);
          }
        }
      }
    }
    out.append(quote);
  }

  private static void escape(int c, StringBuilder out) {
    var hex = HexFormat.of();
    if (c < 0x100) {
      out.append("\\x").append(hex.toHexDigits((byte) c));
    } else if (c < 0x10000) {
      out.append("\\u").append(hex.toHexDigits((char) c));
    } else {
      out.append("\\U").append(hex.toHexDigits(c));
    }
  }

  static String typeName(Object value) {
    return switch (value) {
      case None _ -> "NoneType";
      case Undefined _ -> "Undefined";
      case Boolean _ -> "bool";
      case Double _ -> "float";
      case Number _ -> "int";
      case String _ -> "str";
      case Tuple _ -> "tuple";
      case List<?> _ -> "list";
      case Map<?, ?> _ -> "dict";
      case Namespace _ -> "Namespace";
      case Loop _ -> "LoopContext";
      default -> "function";
    };
  }

  /** A number, booleans included; null for anything else. */
  static @Nullable Number number(Object value) {
    return value instanceof Boolean bool
        ? (bool ? 1L : 0L)
        : value instanceof Number number ? number : null;
  }

  static boolean equal(Object left, Object right) {
    var a = number(left);
    var b = number(right);
    if (a != null && b != null) {
      return compareNumbers(a, b) == 0;
    }
    if (left instanceof List<?> x && right instanceof List<?> y) {
      if (x.size() != y.size() || left instanceof Tuple != right instanceof Tuple) {
        return false;
      }
      for (int i = 0; i < x.size(); i++) {
        if (!equal(x.get(i), y.get(i))) {
          return false;
        }
      }
      return true;
    }
    if (left instanceof Map<?, ?> x && right instanceof Map<?, ?> y) {
      return x.size() == y.size()
          && x.entrySet().stream()
              .allMatch(
                  entry ->
                      y.containsKey(entry.getKey())
                          && equal(entry.getValue(), y.get(entry.getKey())));
    }
    return left.equals(right);
  }

  /** Order of two numbers, strings or lists; an error for other pairs. */
  static int compare(Object left, Object right) {
    var a = number(left);
    var b = number(right);
    if (a != null && b != null) {
      return compareNumbers(a, b);
    }
    if (left instanceof String x && right instanceof String y) {
      return compareText(x, y);
    }
    if (left instanceof List<?> x && right instanceof List<?> y) {
      for (int i = 0; i < Math.min(x.size(), y.size()); i++) {
        if (!equal(x.get(i), y.get(i))) {
          return compare(x.get(i), y.get(i));
        }
      }
      return Integer.compare(x.size(), y.size());
    }
    throw new JinjaException(
        "'<' not supported between instances of '%s' and '%s'"
            .formatted(typeName(left), typeName(right)));
  }

  private static int compareNumbers(Number a, Number b) {
    if (a instanceof Double || b instanceof Double) {
      return Double.compare(a.doubleValue() + 0.0, b.doubleValue() + 0.0);
    }
    return big(a).compareTo(big(b));
  }

  /** By code points, as Python does; UTF-16 orders differently. */
  private static int compareText(String x, String y) {
    int i = 0;
    while (i < x.length() && i < y.length() && x.charAt(i) == y.charAt(i)) {
      i++;
    }
    if (i == x.length() || i == y.length()) {
      return Integer.compare(x.length(), y.length());
    }
    return Integer.compare(x.codePointAt(i), y.codePointAt(i));
  }

  static BigInteger big(Number number) {
    return number instanceof BigInteger big ? big : BigInteger.valueOf(number.longValue());
  }

  static boolean contains(Object container, Object item) {
    return switch (container) {
      case String text when item instanceof String part -> Search.first(text, part, 0) >= 0;
      case List<?> list -> list.stream().anyMatch(element -> equal(element, item));
      case Map<?, ?> map -> map.containsKey(item);
      case Undefined _ -> false;
      default ->
          throw new JinjaException(
              "argument of type '" + typeName(container) + "' is not iterable");
    };
  }

  static List<Object> iterate(Object value) {
    return switch (value) {
      case List<?> list -> new ArrayList<>(list);
      case Map<?, ?> map -> new ArrayList<>(map.keySet());
      case String text -> characters(text);
      case Undefined _ -> List.of();
      default -> throw new JinjaException("'" + typeName(value) + "' object is not iterable");
    };
  }

  /** Each character a text, which takes many times its room. */
  private static List<Object> characters(String text) {
    if (text.length() > MAX_CHARACTERS) {
      throw new JinjaException(
          "the template goes through a text of %d characters one by one, at most %d are taken"
              .formatted(text.length(), MAX_CHARACTERS));
    }
    return text.codePoints().<Object>mapToObj(Character::toString).collect(Collectors.toList());
  }

  /** Length in items or characters; nothing is as long as nothing. */
  static long length(Object value) {
    return switch (value) {
      case String text -> text.codePointCount(0, text.length());
      case List<?> list -> list.size();
      case Map<?, ?> map -> map.size();
      case Undefined _ -> 0;
      case None _ -> 0;
      default -> throw new JinjaException("object of type '" + typeName(value) + "' has no len()");
    };
  }

  static int intArgument(Object value) {
    var number = number(value);
    if (number == null || number instanceof Double) {
      throw new JinjaException("'" + typeName(value) + "' is no integer");
    }
    return (int) Math.clamp(big(number).doubleValue(), Integer.MIN_VALUE, Integer.MAX_VALUE);
  }
}
