package io.dynamo.frontend.preprocess.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Attributes, items and slices. */
final class Access {
  private Access() {}

  /** {@code value.name}: a method first, then an item of a dict, as Jinja does. */
  static Object attribute(Object value, String name) {
    return switch (value) {
      case Undefined undefined -> throw new JinjaException(undefined.message());
      case Loop loop -> loop.get(name);
      case Macro macro -> orUndefined(macro.get(name), value, name);
      case Cycler cycler -> orUndefined(cycler.get(name), value, name);
      case Tuple tuple when tuple.indexOfName(name) >= 0 -> tuple.get(tuple.indexOfName(name));
      case Namespace namespace -> orUndefined(namespace.values().get(name), value, name);
      default -> {
        var method = Methods.of(value, name);
        yield method != null
            ? method
            : orUndefined(value instanceof Map<?, ?> map ? map.get(name) : null, value, name);
      }
    };
  }

  /** {@code value[key]}: an item first, then a method. */
  static Object item(Object value, Object key) {
    return switch (value) {
      case Undefined undefined -> throw new JinjaException(undefined.message());
      case Map<?, ?> map when map.containsKey(key) -> map.get(key);
      case List<?> list when key instanceof Number number -> {
        int index = index(number, list.size());
        yield index < 0 ? missing(value, key) : list.get(index);
      }
      case String text when key instanceof Number number -> {
        int index = index(number, (int) Values.length(text));
        yield index < 0
            ? missing(value, key)
            : Character.toString(text.codePointAt(text.offsetByCodePoints(0, index)));
      }
      default -> key instanceof String name ? attribute(value, name) : missing(value, key);
    };
  }

  /** {@code a.b.0} as filters take it, or one key. */
  static Object path(Object value, Object path) {
    if (!(path instanceof String text)) {
      return item(value, path);
    }
    var found = value;
    for (var part : text.split("\\.", -1)) {
      boolean number = !part.isEmpty() && part.chars().allMatch(Character::isDigit);
      found = item(found, number ? (Object) Long.valueOf(part) : part);
    }
    return found;
  }

  static Object slice(Object value, Object from, Object to, Object step) {
    if (value instanceof String text) {
      return slice(text, from, to, step);
    }
    List<Object> items =
        switch (value) {
          case List<?> list -> new ArrayList<>(list);
          case Undefined undefined -> throw new JinjaException(undefined.message());
          default ->
              throw new JinjaException("'" + Values.typeName(value) + "' object cannot be sliced");
        };
    var range = Range.of(items.size(), from, to, step);
    var slice = new ArrayList<>();
    for (long i = range.start; range.holds(i); i += range.by) {
      slice.add(items.get((int) i));
    }
    return value instanceof Tuple ? new Tuple(slice) : slice;
  }

  /** The places of a slice. */
  private record Range(int start, int end, int by) {
    static Range of(int size, Object from, Object to, Object step) {
      int by = step == None.NONE ? 1 : Values.intArgument(step);
      if (by == 0) {
        throw new JinjaException("slice step cannot be zero");
      }
      int low = by > 0 ? 0 : -1;
      int high = by > 0 ? size : size - 1;
      return new Range(
          from == None.NONE ? (by > 0 ? low : high) : bound(from, size, low, high),
          to == None.NONE ? (by > 0 ? high : low) : bound(to, size, low, high),
          by);
    }

    boolean holds(long place) {
      return by > 0 ? place < end : place > end;
    }
  }

  /** By code points, without making an object of each. */
  private static String slice(String text, Object from, Object to, Object step) {
    int size = (int) Values.length(text);
    var range = Range.of(size, from, to, step);
    if (!range.holds(range.start)) {
      return "";
    }
    boolean plain = size == text.length(); // no surrogates: places are offsets
    int at = plain ? range.start : text.offsetByCodePoints(0, range.start);
    if (range.by == 1) {
      return text.substring(
          at, plain ? range.end : text.offsetByCodePoints(at, range.end - range.start));
    }
    var slice = new StringBuilder();
    for (long i = range.start; ; ) {
      slice.appendCodePoint(text.codePointAt(at));
      i += range.by;
      if (!range.holds(i)) {
        return slice.toString();
      }
      at = plain ? (int) i : text.offsetByCodePoints(at, range.by);
    }
  }

  private static int bound(Object value, int size, int low, int high) {
    long index = Values.intArgument(value);
    return Math.clamp(index < 0 ? index + size : index, low, high);
  }

  private static int index(Number number, int size) {
    long index = number instanceof Long whole ? whole : Long.MAX_VALUE;
    long absolute = index < 0 ? index + size : index;
    return absolute >= 0 && absolute < size ? (int) absolute : -1;
  }

  private static Object orUndefined(@Nullable Object found, Object of, Object key) {
    return found == null ? missing(of, key) : found;
  }

  private static Undefined missing(Object of, Object key) {
    var type =
        switch (of) {
          case None _ -> "None";
          case Macro _ -> "jinja2.runtime.Macro object";
          case Namespace _ -> "jinja2.utils.Namespace object";
          default -> Values.typeName(of) + " object";
        };
    if (!(key instanceof String name)) {
      return new Undefined("%s has no element %s".formatted(type, Values.repr(key)));
    }
    return new Undefined(
        Methods.changes(of, name)
            ? "access to attribute '%s' of '%s' object is unsafe."
                .formatted(name, Values.typeName(of))
            : "'%s' has no attribute '%s'".formatted(type, name));
  }
}
