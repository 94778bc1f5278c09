package io.dynamo.frontend.preprocess.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The methods of Python's dicts and lists that read; those that change are not there. */
final class Methods {
  private static final Set<String> LIST_CHANGES =
      Set.of("append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove");
  private static final Set<String> MAP_CHANGES =
      Set.of("clear", "pop", "popitem", "setdefault", "update");

  private Methods() {}

  /** The method {@code name} of {@code value}, or null when it has none. */
  static @Nullable Function of(Object value, String name) {
    return switch (value) {
      case String text -> TextMethods.of(text, name);
      case Map<?, ?> map -> ofMap(map, name);
      case List<?> list -> ofList(list, name);
      default -> null;
    };
  }

  private static @Nullable Function ofMap(Map<?, ?> map, String name) {
    return switch (name) {
      case "items" -> (args, named) -> items(map);
      case "keys" -> (args, named) -> new ArrayList<>(map.keySet());
      case "values" -> (args, named) -> new ArrayList<>(map.values());
      case "get" ->
          (args, named) -> {
            var found = map.get(argument(args, 0, name));
            return found != null ? found : args.size() > 1 ? args.get(1) : None.NONE;
          };
      case "copy" -> (args, named) -> new LinkedHashMap<Object, Object>(map);
      default -> null;
    };
  }

  /** Whether {@code name} is a method of {@code value} that would change it. */
  static boolean changes(Object value, String name) {
    return switch (value) {
      case Tuple _ -> false;
      case List<?> _ -> LIST_CHANGES.contains(name);
      case Map<?, ?> _ -> MAP_CHANGES.contains(name);
      default -> false;
    };
  }

  static List<Object> items(Map<?, ?> map) {
    var items = new ArrayList<>(map.size());
    map.forEach((key, item) -> items.add(Tuple.of(key, item)));
    return items;
  }

  private static @Nullable Function ofList(List<?> list, String name) {
    return switch (name) {
      case "count" ->
          (args, named) ->
              list.stream().filter(item -> Values.equal(item, argument(args, 0, name))).count();
      case "copy" -> (args, named) -> new ArrayList<Object>(list);
      case "index" ->
          (args, named) -> {
            for (int i = 0; i < list.size(); i++) {
              if (Values.equal(list.get(i), argument(args, 0, name))) {
                return (long) i;
              }
            }
            throw new JinjaException(Values.text(argument(args, 0, name)) + " is not in list");
          };
      default -> null;
    };
  }

  /** An argument by position; an error when it is not there. */
  static Object argument(List<Object> args, int index, String method) {
    if (index >= args.size()) {
      throw new JinjaException(method + "() misses an argument");
    }
    return args.get(index);
  }
}
