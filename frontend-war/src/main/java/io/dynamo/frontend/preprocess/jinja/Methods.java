package io.dynamo.frontend.preprocess.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The methods of Python's strings, dicts and lists that read; those that change are not there. */
final class Methods {
  private Methods() {}

  /** The method {@code name} of {@code value}, or null when it has none. */
  static @Nullable Function of(Object value, String name) {
    return switch (value) {
      case String text -> ofText(text, name);
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
      case "copy" -> (args, named) -> map;
      default -> null;
    };
  }

  static List<Object> items(Map<?, ?> map) {
    var items = new ArrayList<>(map.size());
    map.forEach((key, item) -> items.add(List.of(key, item)));
    return items;
  }

  private static @Nullable Function ofList(List<?> list, String name) {
    return switch (name) {
      case "count" ->
          (args, named) ->
              list.stream().filter(item -> Values.equal(item, argument(args, 0, name))).count();
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

  private static @Nullable Function ofText(String text, String name) {
    return switch (name) {
      case "upper" -> (args, named) -> text.toUpperCase(Locale.ROOT);
      case "lower" -> (args, named) -> text.toLowerCase(Locale.ROOT);
      case "capitalize" -> (args, named) -> capitalize(text);
      case "title" -> (args, named) -> title(text);
      case "strip" -> (args, named) -> strip(text, args, true, true);
      case "lstrip" -> (args, named) -> strip(text, args, true, false);
      case "rstrip" -> (args, named) -> strip(text, args, false, true);
      case "startswith" ->
          (args, named) -> affixes(argument(args, 0, name)).stream().anyMatch(text::startsWith);
      case "endswith" ->
          (args, named) -> affixes(argument(args, 0, name)).stream().anyMatch(text::endsWith);
      case "removeprefix" ->
          (args, named) -> {
            var prefix = string(args, 0, name);
            return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
          };
      case "removesuffix" ->
          (args, named) -> {
            var suffix = string(args, 0, name);
            return text.endsWith(suffix)
                ? text.substring(0, text.length() - suffix.length())
                : text;
          };
      case "replace" ->
          (args, named) ->
              replace(
                  text,
                  string(args, 0, name),
                  string(args, 1, name),
                  args.size() > 2 ? Values.intArgument(args.get(2)) : -1);
      case "split" -> (args, named) -> split(text, args, named);
      case "rsplit" -> (args, named) -> rsplit(text, args, named);
      case "splitlines" -> (args, named) -> new ArrayList<Object>(text.lines().toList());
      case "join" -> (args, named) -> join(text, Values.iterate(argument(args, 0, name)));
      case "find" -> (args, named) -> position(text, text.indexOf(string(args, 0, name)));
      case "rfind" -> (args, named) -> position(text, text.lastIndexOf(string(args, 0, name)));
      case "count" ->
          (args, named) -> (long) split(text, List.of(string(args, 0, name)), Map.of()).size() - 1;
      case "isdigit" -> (args, named) -> all(text, Character::isDigit);
      case "isalpha" -> (args, named) -> all(text, Character::isLetter);
      case "isalnum" -> (args, named) -> all(text, Character::isLetterOrDigit);
      case "isspace" -> (args, named) -> all(text, Text::isSpace);
      default -> null;
    };
  }

  private static boolean all(String text, IntPredicate test) {
    return !text.isEmpty() && text.codePoints().allMatch(test);
  }

  private static Object position(String text, int index) {
    return index < 0 ? -1L : (long) text.codePointCount(0, index);
  }

  private static List<String> affixes(Object argument) {
    return argument instanceof List<?> list
        ? list.stream().map(Values::text).toList()
        : List.of(Values.text(argument));
  }

  static String capitalize(String text) {
    return text.isEmpty()
        ? text
        : text.substring(0, 1).toUpperCase(Locale.ROOT)
            + text.substring(1).toLowerCase(Locale.ROOT);
  }

  static String title(String text) {
    var out = new StringBuilder();
    boolean inWord = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      var letter = String.valueOf(c);
      out.append(inWord ? letter.toLowerCase(Locale.ROOT) : letter.toUpperCase(Locale.ROOT));
      inWord = Character.isLetter(c);
    }
    return out.toString();
  }

  static String strip(String text, List<Object> args, boolean left, boolean right) {
    int start = 0;
    int end = text.length();
    if (args.isEmpty() || args.getFirst() == None.NONE) {
      start = left ? Text.leadingSpace(text) : 0;
      end = right ? end - Text.trailingSpace(text) : end;
    } else {
      var characters = Values.text(args.getFirst());
      while (left && start < end && characters.indexOf(text.charAt(start)) >= 0) {
        start++;
      }
      while (right && end > start && characters.indexOf(text.charAt(end - 1)) >= 0) {
        end--;
      }
    }
    return start >= end ? "" : text.substring(start, end);
  }

  /** Replaces the first {@code count} occurrences, all when it is negative. */
  static String replace(String text, String old, String by, int count) {
    if (count < 0) {
      return text.replace(old, by);
    }
    var out = new StringBuilder();
    int at = 0;
    for (int i = 0; i < count; i++) {
      int found = text.indexOf(old, at);
      if (found < 0) {
        break;
      }
      out.append(text, at, found).append(by);
      at = found + old.length();
    }
    return out.append(text, at, text.length()).toString();
  }

  private static List<Object> split(String text, List<Object> args, Map<String, Object> named) {
    int most = limit(args, named);
    var parts = new ArrayList<>();
    if (args.isEmpty() || args.getFirst() == None.NONE) {
      var rest = text.substring(Text.leadingSpace(text));
      while (!rest.isEmpty()) {
        int end = 0;
        while (end < rest.length() && !Text.isSpace(rest.charAt(end))) {
          end++;
        }
        if (most >= 0 && parts.size() == most) {
          parts.add(rest.substring(0, rest.length() - Text.trailingSpace(rest)));
          return parts;
        }
        parts.add(rest.substring(0, end));
        rest = rest.substring(end);
        rest = rest.substring(Text.leadingSpace(rest));
      }
      return parts;
    }
    var separator = separator(args);
    int at = 0;
    for (int found;
        (most < 0 || parts.size() < most) && (found = text.indexOf(separator, at)) >= 0; ) {
      parts.add(text.substring(at, found));
      at = found + separator.length();
    }
    parts.add(text.substring(at));
    return parts;
  }

  private static List<Object> rsplit(String text, List<Object> args, Map<String, Object> named) {
    int most = limit(args, named);
    if (most < 0 || args.isEmpty() || args.getFirst() == None.NONE) {
      return split(text, args, named);
    }
    var separator = separator(args);
    var parts = new ArrayList<>();
    int end = text.length();
    while (parts.size() < most) {
      int found =
          end < separator.length() ? -1 : text.lastIndexOf(separator, end - separator.length());
      if (found < 0) {
        break;
      }
      parts.add(text.substring(found + separator.length(), end));
      end = found;
    }
    parts.add(text.substring(0, end));
    Collections.reverse(parts);
    return parts;
  }

  private static int limit(List<Object> args, Map<String, Object> named) {
    var limit = args.size() > 1 ? args.get(1) : named.get("maxsplit");
    return limit == null ? -1 : Values.intArgument(limit);
  }

  private static String separator(List<Object> args) {
    var separator = string(args, 0, "split");
    if (separator.isEmpty()) {
      throw new JinjaException("empty separator");
    }
    return separator;
  }

  static String join(String separator, List<Object> items) {
    var out = new StringBuilder();
    for (int i = 0; i < items.size(); i++) {
      if (!(items.get(i) instanceof String item)) {
        throw new JinjaException(
            "sequence item %d: expected str instance, %s found"
                .formatted(i, Values.typeName(items.get(i))));
      }
      out.append(i > 0 ? separator : "").append(item);
    }
    return out.toString();
  }

  private static Object argument(List<Object> args, int index, String method) {
    if (index >= args.size()) {
      throw new JinjaException(method + "() misses an argument");
    }
    return args.get(index);
  }

  private static String string(List<Object> args, int index, String method) {
    if (argument(args, index, method) instanceof String text) {
      return text;
    }
    throw new JinjaException(method + "() wants a string");
  }
}
