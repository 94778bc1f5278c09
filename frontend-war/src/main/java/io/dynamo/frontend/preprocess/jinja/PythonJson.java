package io.dynamo.frontend.preprocess.jinja;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** {@code json.dumps(value, ensure_ascii=False)}: its separators, order and escapes. */
final class PythonJson {
  private final String itemSeparator;
  private final String keySeparator;
  private final @Nullable String indent;
  private final boolean ascii;
  private final boolean sortKeys;
  private final StringBuilder out = new StringBuilder();

  /**
   * @param indent spaces of a level, or null for one line
   * @param ascii whether other characters are escaped
   */
  PythonJson(
      String itemSeparator,
      String keySeparator,
      @Nullable String indent,
      boolean sortKeys,
      boolean ascii) {
    this.ascii = ascii;
    this.itemSeparator = itemSeparator;
    this.keySeparator = keySeparator;
    this.indent = indent;
    this.sortKeys = sortKeys;
  }

  String write(Object value) {
    value(value, 1);
    return out.toString();
  }

  private void value(Object value, int level) {
    Text.checkedLength(out.length());
    switch (value) {
      case None _ -> out.append("null");
      case Boolean bool -> out.append(bool);
      case Double number -> out.append(number(number));
      case Number number -> out.append(number);
      case String text -> string(text);
      case List<?> list -> list(list, level);
      case Map<?, ?> map -> map(map, level);
      default ->
          throw new JinjaException(
              "Object of type " + Values.typeName(value) + " is not JSON serializable");
    }
  }

  private void list(List<?> list, int level) {
    out.append('[');
    for (int i = 0; i < list.size(); i++) {
      separate(i, level);
      value(list.get(i), level + 1);
    }
    close(list.isEmpty(), level, ']');
  }

  private void map(Map<?, ?> map, int level) {
    Map<?, ?> ordered = sortKeys ? sorted(map) : map;
    out.append('{');
    int i = 0;
    for (var entry : ordered.entrySet()) {
      separate(i++, level);
      string(
          entry.getKey() instanceof String key
              ? key
              : new PythonJson(",", ":", null, false, false).write(entry.getKey()));
      out.append(keySeparator);
      value(entry.getValue(), level + 1);
    }
    close(map.isEmpty(), level, '}');
  }

  private static Map<Object, Object> sorted(Map<?, ?> map) {
    var sorted = new TreeMap<Object, Object>(Values::compare);
    sorted.putAll(map);
    return sorted;
  }

  private void separate(int index, int level) {
    if (index > 0) {
      out.append(itemSeparator);
    }
    if (indent != null) {
      out.append('\n').append(indent.repeat(level));
    }
  }

  private void close(boolean empty, int level, char closer) {
    if (!empty && indent != null) {
      out.append('\n').append(indent.repeat(level - 1));
    }
    out.append(closer);
  }

  private static String number(double value) {
    return Double.isNaN(value)
        ? "NaN"
        : Double.isInfinite(value) ? (value > 0 ? "Infinity" : "-Infinity") : Text.number(value);
  }

  private void string(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          if (c < 0x20 || (ascii && c > 0x7E)) {
            out.append("\\u").append(HexFormat.of().toHexDigits(c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}
