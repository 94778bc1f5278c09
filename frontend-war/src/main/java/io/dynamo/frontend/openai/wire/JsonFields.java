package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Typed access to one JSON object. A value of the wrong type is refused with its path, what it is,
 * and what was expected; null counts as absent.
 *
 * @param path of the object, empty at the top, else ending in a dot
 */
record JsonFields(JsonNode object, String path) {
  private static final int SHOWN = 64; // characters of a refused string that are repeated

  /** The object at {@code name}, or a refusal. */
  static JsonFields of(JsonNode node, String path) {
    if (!node.isObject()) {
      throw wrong(path, node, "a map");
    }
    return new JsonFields(node, path.isEmpty() ? "" : path + ".");
  }

  String path(String name) {
    return path + name;
  }

  @Nullable JsonNode get(String name) {
    var value = object.get(name);
    return value == null || value.isNull() ? null : value;
  }

  JsonNode require(String name) {
    var value = object.get(name);
    if (value == null) {
      throw JsonBody.invalidBody(
          "missing field `" + name + "`" + (path.isEmpty() ? "" : " in " + parent()));
    }
    return value;
  }

  private String parent() {
    return path.substring(0, path.length() - 1);
  }

  String requireString(String name) {
    var value = require(name);
    if (!value.isTextual()) {
      throw wrong(path(name), value, "a string");
    }
    return value.textValue();
  }

  @Nullable String string(String name) {
    return get(name) == null ? null : requireString(name);
  }

  boolean bool(String name) {
    var value = get(name);
    if (value != null && !value.isBoolean()) {
      throw wrong(path(name), value, "a boolean");
    }
    return value != null && value.booleanValue();
  }

  @Nullable Boolean optionalBool(String name) {
    return get(name) == null ? null : (Boolean) bool(name);
  }

  /** A whole number within the given bounds of its type. */
  @Nullable Long whole(String name, long min, long max) {
    var value = get(name);
    if (value == null) {
      return null;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < min
        || value.longValue() > max) {
      throw wrong(path(name), value, "a whole number from " + min + " to " + max);
    }
    return value.longValue();
  }

  /** A whole number that fits an {@code int}. */
  @Nullable Integer integer(String name, int min, int max) {
    var value = whole(name, min, max);
    return value == null ? null : (Integer) (int) (long) value;
  }

  /** An unsigned 64-bit number. */
  @Nullable BigInteger unsigned(String name) {
    var value = get(name);
    if (value == null) {
      return null;
    }
    if (!value.isIntegralNumber()
        || value.bigIntegerValue().signum() < 0
        || value.bigIntegerValue().bitLength() > 64) {
      throw wrong(path(name), value, "u64");
    }
    return value.bigIntegerValue();
  }

  /** A list of strings, empty when absent. */
  List<String> strings(String name) {
    var value = get(name);
    if (value == null) {
      return List.of();
    }
    if (!value.isArray()) {
      throw wrong(path(name), value, "a sequence");
    }
    var strings = new ArrayList<String>(value.size());
    for (int i = 0; i < value.size(); i++) {
      if (!value.get(i).isTextual()) {
        throw wrong(path(name) + "[" + i + "]", value.get(i), "a string");
      }
      strings.add(value.get(i).textValue());
    }
    return strings;
  }

  /** The fields whose names are not among {@code known}, in their order. */
  Map<String, JsonNode> unknown(Set<String> known) {
    var unknown = new LinkedHashMap<String, JsonNode>();
    for (var entry : object.properties()) {
      if (!known.contains(entry.getKey())) {
        unknown.put(entry.getKey(), entry.getValue());
      }
    }
    return unknown;
  }

  /** Refuses keys that are not among {@code known}. */
  void onlyKnown(List<String> known) {
    for (var entry : object.properties()) {
      if (!known.contains(entry.getKey())) {
        throw JsonBody.invalidBody(
            (path.isEmpty() ? "" : parent() + ": ")
                + "unknown field `%s`, expected one of %s"
                    .formatted(
                        clipped(entry.getKey()),
                        String.join(", ", known.stream().map(it -> "`" + it + "`").toList())));
      }
    }
  }

  /** Whether a node is an unsigned 32-bit number, as token ids are. */
  static boolean isTokenId(JsonNode node) {
    return node.isIntegralNumber()
        && node.canConvertToLong()
        && node.longValue() >= 0
        && node.longValue() <= 0xFFFF_FFFFL;
  }

  /** Shortens a text of the client for an error message. */
  static String clipped(String text) {
    return text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
  }

  /** Shortens a list for an error message. */
  static String clippedList(String text) {
    return text.length() > 16 * SHOWN ? text.substring(0, 16 * SHOWN) + "…" : text;
  }

  @Nullable BigDecimal decimal(String name) {
    var value = get(name);
    if (value == null) {
      return null;
    }
    if (!value.isNumber()) {
      throw wrong(path(name), value, "a number");
    }
    return value.decimalValue();
  }

  /** A map with values as JSON has them; empty when absent. */
  Map<String, Object> map(String name) {
    var value = get(name);
    if (value == null) {
      return Map.of();
    }
    if (!value.isObject()) {
      throw wrong(path(name), value, "a map");
    }
    return plainMap(value);
  }

  /** Refuses {@code value}. */
  static ApiException wrong(String path, JsonNode value, String expected) {
    return JsonBody.invalidBody(
        (path.isEmpty() ? "" : path + ": ") + "invalid " + shown(value) + ", expected " + expected);
  }

  private static String shown(JsonNode value) {
    return switch (value.getNodeType()) {
      case STRING -> "type: string \"" + clipped(value.textValue()) + "\"";
      case NUMBER ->
          (value.isIntegralNumber() ? "value: integer `" : "value: number `")
              + clipped(value.asText())
              + "`";
      case BOOLEAN -> "type: boolean `" + value.asText() + "`";
      case NULL -> "type: null";
      case ARRAY -> "type: sequence";
      case OBJECT -> "type: map";
      case BINARY, MISSING, POJO -> "type";
    };
  }

  /** Converts a tree to plain maps, lists, strings, numbers, booleans and nulls. */
  static Map<String, Object> plainMap(JsonNode object) {
    var map = new LinkedHashMap<String, Object>();
    for (var entry : object.properties()) {
      map.put(entry.getKey(), plain(entry.getValue()));
    }
    return map;
  }

  /** Converts a value to plain maps, lists, strings, numbers, booleans and nulls. */
  static Object plainValue(JsonNode node) {
    return plain(node);
  }

  @SuppressWarnings("NullAway") // JSON's null inside a map or list, as templates expect it
  private static Object plain(JsonNode node) {
    return switch (node.getNodeType()) {
      case OBJECT -> plainMap(node);
      case ARRAY -> {
        List<Object> list = new ArrayList<>(node.size());
        for (var element : node) {
          list.add(plain(element));
        }
        yield list;
      }
      case STRING -> node.textValue();
      case BOOLEAN -> node.booleanValue();
      case NUMBER -> number(node);
      case NULL, MISSING, BINARY, POJO -> null;
    };
  }

  /** A whole number that fits 64 bits, with or without a sign, keeps its digits; as in Dynamo. */
  private static Number number(JsonNode node) {
    var number = node.numberValue();
    return number instanceof BigInteger whole && (whole.signum() < 0 || whole.bitLength() > 64)
        ? whole.doubleValue()
        : number;
  }
}
