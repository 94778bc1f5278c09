package io.dynamo.json;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object with typed accessors for codecs. A member that is {@code null} counts as absent;
 * one of another type than requested is refused by name.
 *
 * @param members unmodifiable, in the order of the text
 */
public record JsonObject(Map<String, @Nullable Object> members) {
  public JsonObject {
    members = Members.of(members);
  }

  /** Returns a copy of {@code map}, its names as text. */
  public static JsonObject of(Map<?, ?> map) {
    if (map instanceof Members immutable) {
      return new JsonObject(immutable);
    }
    var members = new LinkedHashMap<String, @Nullable Object>();
    map.forEach((name, value) -> members.put(String.valueOf(name), value));
    return new JsonObject(Members.owned(members));
  }

  /**
   * Returns members in the given order, for writing.
   *
   * @param members name, value, name, value and so on
   */
  public static Map<String, @Nullable Object> ordered(Object... members) {
    var map = new LinkedHashMap<String, @Nullable Object>();
    for (int i = 0; i < members.length; i += 2) {
      map.put((String) members[i], members[i + 1]);
    }
    return map;
  }

  /**
   * @throws IllegalArgumentException when there is no text of that name
   */
  public String text(String name) {
    return required(name, optionalText(name));
  }

  public @Nullable String optionalText(String name) {
    var value = members.get(name);
    if (value == null) {
      return null;
    }
    if (value instanceof String text) {
      return text;
    }
    throw wrong(name, "a text");
  }

  /**
   * @throws IllegalArgumentException when there is no number of that name that fits in 32 bits and
   *     is not negative
   */
  public int count(String name) {
    return required(name, optionalCount(name));
  }

  public @Nullable Integer optionalCount(String name) {
    var value = optionalLong(name);
    if (value != null && (value < 0 || value > Integer.MAX_VALUE)) {
      throw wrong(name, "a number from 0 to 2147483647");
    }
    return value == null ? null : value.intValue();
  }

  public @Nullable Long optionalLong(String name) {
    return switch (members.get(name)) {
      case null -> null;
      case Integer value -> value.longValue();
      case Long value -> value;
      default -> throw wrong(name, "a whole number");
    };
  }

  /**
   * Returns an unsigned 64-bit number.
   *
   * @throws IllegalArgumentException when there is none of that name
   */
  public long unsigned(String name) {
    var value =
        switch (members.get(name)) {
          case Integer small -> BigInteger.valueOf(small);
          case Long large -> BigInteger.valueOf(large);
          case BigInteger huge -> huge;
          case null, default -> throw wrong(name, "an unsigned 64-bit number");
        };
    if (value.signum() < 0 || value.bitLength() > Long.SIZE) {
      throw wrong(name, "an unsigned 64-bit number");
    }
    return value.longValue();
  }

  /**
   * @throws IllegalArgumentException when there is no object of that name
   */
  public JsonObject object(String name) {
    return required(name, optionalObject(name));
  }

  public @Nullable JsonObject optionalObject(String name) {
    var value = members.get(name);
    if (value == null) {
      return null;
    }
    if (value instanceof Map<?, ?> map) {
      return of(map);
    }
    throw wrong(name, "an object");
  }

  /** Returns the objects of a list; empty when the member is missing or null. */
  public List<JsonObject> optionalObjects(String name) {
    if (members.get(name) == null) {
      return List.of();
    }
    var objects = new ArrayList<JsonObject>();
    for (var one : list(name)) {
      if (!(one instanceof Map<?, ?> map)) {
        throw wrong(name, "a list of objects");
      }
      objects.add(of(map));
    }
    return objects;
  }

  /** Returns the list of that name; empty when absent. */
  public List<@Nullable Object> list(String name) {
    var value = members.get(name);
    if (value == null) {
      return List.of();
    }
    if (value instanceof List<?> list) {
      return Collections.unmodifiableList(new ArrayList<@Nullable Object>(list));
    }
    throw wrong(name, "a list");
  }

  private static <T> T required(String name, @Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException("member \"" + name + "\" is missing");
    }
    return value;
  }

  private static IllegalArgumentException wrong(String name, String what) {
    return new IllegalArgumentException("member \"" + name + "\" is not " + what);
  }
}
