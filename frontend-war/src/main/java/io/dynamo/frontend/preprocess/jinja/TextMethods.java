package io.dynamo.frontend.preprocess.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The methods of Python's strings. */
final class TextMethods {
  private static final int MAX_WIDTH = 100_000;

  private TextMethods() {}

  /** The method {@code name} of {@code text}, or null when it has none. */
  static @Nullable Function of(String text, String name) {
    return switch (name) {
      case "upper" -> (args, named) -> text.toUpperCase(Locale.ROOT);
      case "lower" -> (args, named) -> text.toLowerCase(Locale.ROOT);
      case "capitalize" -> (args, named) -> capitalize(text);
      case "title" -> (args, named) -> title(text);
      case "strip" -> (args, named) -> strip(text, args, true, true);
      case "lstrip" -> (args, named) -> strip(text, args, true, false);
      case "rstrip" -> (args, named) -> strip(text, args, false, true);
      case "startswith" -> (args, named) -> hasAffix(text, args, name, true);
      case "endswith" -> (args, named) -> hasAffix(text, args, name, false);
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
      case "splitlines" ->
          (args, named) ->
              Text.lines(
                  text,
                  Values.isTrue(
                      args.isEmpty() ? named.getOrDefault("keepends", false) : args.getFirst()));
      case "join" -> (args, named) -> join(text, Values.iterate(Methods.argument(args, 0, name)));
      case "find", "index" -> (args, named) -> position(text, args, name, true);
      case "rfind", "rindex" -> (args, named) -> position(text, args, name, false);
      case "count" -> (args, named) -> count(within(text, args, 1), string(args, 0, name));
      case "partition" -> (args, named) -> partition(text, string(args, 0, name), true);
      case "rpartition" -> (args, named) -> partition(text, string(args, 0, name), false);
      case "center", "ljust", "rjust", "zfill" -> (args, named) -> padded(text, args, name);
      case "swapcase" -> (args, named) -> swapCase(text);
      case "casefold" -> (args, named) -> text.toLowerCase(Locale.ROOT).replace("ß", "ss");
      case "format" -> (args, named) -> Formats.braces(text, args, named);
      case "islower" -> (args, named) -> isCased(text, false);
      case "isupper" -> (args, named) -> isCased(text, true);
      case "isascii" -> (args, named) -> text.chars().allMatch(c -> c < 0x80);
      case "isdigit", "isdecimal", "isnumeric" -> (args, named) -> all(text, Character::isDigit);
      case "isalpha" -> (args, named) -> all(text, Character::isLetter);
      case "isalnum" -> (args, named) -> all(text, Character::isLetterOrDigit);
      case "isspace" -> (args, named) -> all(text, Text::isSpace);
      default -> null;
    };
  }

  private static boolean all(String text, IntPredicate test) {
    return !text.isEmpty() && text.codePoints().allMatch(test);
  }

  private static long count(String text, String part) {
    if (part.isEmpty()) {
      return Values.length(text) + 1;
    }
    long count = 0;
    for (int at = Search.first(text, part, 0);
        at >= 0;
        at = Search.first(text, part, at + part.length())) {
      count++;
    }
    return count;
  }

  private static boolean hasAffix(String text, List<Object> args, String name, boolean start) {
    var within = within(text, args, 1);
    var affixes =
        Methods.argument(args, 0, name) instanceof Tuple tuple ? tuple : args.subList(0, 1);
    for (var affix : affixes) {
      if (!(affix instanceof String part)) {
        throw new JinjaException(
            "%s first arg must be str or a tuple of str, not %s"
                .formatted(name, Values.typeName(affix)));
      }
      if (start ? within.startsWith(part) : within.endsWith(part)) {
        return true;
      }
    }
    return false;
  }

  /** The part of {@code text} that the arguments {@code start} and {@code end} leave. */
  private static String within(String text, List<Object> args, int index) {
    if (args.size() <= index) {
      return text;
    }
    var end = args.size() > index + 1 ? args.get(index + 1) : None.NONE;
    return Values.text(Access.slice(text, args.get(index), end, None.NONE));
  }

  private static Object position(String text, List<Object> args, String name, boolean first) {
    var part = string(args, 0, name);
    var within = within(text, args, 1);
    int found = first ? Search.first(within, part, 0) : Search.last(within, part, within.length());
    if (found < 0) {
      if (name.endsWith("index")) {
        throw new JinjaException("substring not found");
      }
      return -1L;
    }
    long start = args.size() > 1 && args.get(1) != None.NONE ? Values.intArgument(args.get(1)) : 0;
    long size = Values.length(text);
    return Math.clamp(start < 0 ? start + size : start, 0, size) + within.codePointCount(0, found);
  }

  private static Object partition(String text, String separator, boolean first) {
    if (separator.isEmpty()) {
      throw new JinjaException("empty separator");
    }
    int found =
        first ? Search.first(text, separator, 0) : Search.last(text, separator, text.length());
    if (found < 0) {
      return first ? Tuple.of(text, "", "") : Tuple.of("", "", text);
    }
    return Tuple.of(
        text.substring(0, found), separator, text.substring(found + separator.length()));
  }

  private static String padded(String text, List<Object> args, String name) {
    var fill = args.size() > 1 ? string(args, 1, name) : name.equals("zfill") ? "0" : " ";
    if (Values.length(fill) != 1) {
      throw new JinjaException("The fill character must be exactly one character long");
    }
    int width = Values.intArgument(Methods.argument(args, 0, name));
    int missing = Math.max(0, Math.min(width, MAX_WIDTH) - (int) Values.length(text));
    int left = missing / 2 + (missing & width & 1);
    return switch (name) {
      case "ljust" -> text + fill.repeat(missing);
      case "rjust" -> fill.repeat(missing) + text;
      case "zfill" -> {
        boolean signed = text.startsWith("-") || text.startsWith("+");
        yield (signed ? text.substring(0, 1) : "")
            + fill.repeat(missing)
            + text.substring(signed ? 1 : 0);
      }
      default -> fill.repeat(left) + text + fill.repeat(missing - left);
    };
  }

  static String center(String text, int width) {
    return padded(text, List.of((long) width), "center");
  }

  private static String swapCase(String text) {
    var out = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              var letter = Character.toString(c);
              out.append(
                  Character.isUpperCase(c)
                      ? letter.toLowerCase(Locale.ROOT)
                      : letter.toUpperCase(Locale.ROOT));
            });
    return out.toString();
  }

  private static boolean isCased(String text, boolean upper) {
    boolean cased = false;
    for (int i = 0; i < text.length(); i = text.offsetByCodePoints(i, 1)) {
      int c = text.codePointAt(i);
      if (upper ? Character.isLowerCase(c) : Character.isUpperCase(c) || Character.isTitleCase(c)) {
        return false;
      }
      cased |= upper ? Character.isUpperCase(c) : Character.isLowerCase(c);
    }
    return cased;
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

  /** As the filter of the name: a word begins after a space, a hyphen or an opening bracket. */
  static String titleWords(String text) {
    var out = new StringBuilder();
    boolean begins = true;
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      boolean separates = Text.isSpace(c) || "-({[<".indexOf(c) >= 0;
      var letter = Character.toString(c);
      out.append(begins ? letter.toUpperCase(Locale.ROOT) : letter.toLowerCase(Locale.ROOT));
      begins = separates;
    }
    return out.toString();
  }

  /** Replaces the first {@code count} occurrences, all when it is negative. */
  static String replace(String text, String old, String by, int count) {
    long most = Math.min(count < 0 ? Long.MAX_VALUE : count, count(text, old));
    Text.checkedLength(text.length() + most * by.length());
    if (old.isEmpty()) {
      return between(text, by, count < 0 ? Integer.MAX_VALUE : count);
    }
    var out = new StringBuilder();
    int at = 0;
    for (long i = 0; i < most; i++) {
      int found = Search.first(text, old, at);
      if (found < 0) {
        break;
      }
      out.append(text, at, found).append(by);
      at = found + old.length();
    }
    return out.append(text, at, text.length()).toString();
  }

  /** {@code by} before each of the first characters, and at the end when all have one. */
  private static String between(String text, String by, int count) {
    var out = new StringBuilder();
    int at = 0;
    for (int i = 0; i < count; i++) {
      out.append(by);
      if (at == text.length()) {
        return out.toString();
      }
      int next = text.offsetByCodePoints(at, 1);
      out.append(text, at, next);
      at = next;
    }
    return out.append(text, at, text.length()).toString();
  }

  private static List<Object> split(String text, List<Object> args, Map<String, Object> named) {
    int most = limit(args, named);
    var parts = new ArrayList<>();
    if (args.isEmpty() || args.getFirst() == None.NONE) {
      return words(text, most);
    }
    var separator = separator(args);
    int at = 0;
    for (int found;
        (most < 0 || parts.size() < most) && (found = Search.first(text, separator, at)) >= 0; ) {
      parts.add(text.substring(at, found));
      at = found + separator.length();
    }
    parts.add(text.substring(at));
    return parts;
  }

  /** The parts between white space; the last of {@code most} and one keeps its own. */
  private static List<Object> words(String text, int most) {
    var words = new ArrayList<>();
    int stop = text.length() - Text.trailingSpace(text);
    int at = Text.leadingSpace(text);
    while (at < stop) {
      int end = at;
      while (end < stop && (words.size() == most || !Text.isSpace(text.charAt(end)))) {
        end++;
      }
      words.add(text.substring(at, end));
      at = end;
      while (at < stop && Text.isSpace(text.charAt(at))) {
        at++;
      }
    }
    return words;
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
      int found = Search.last(text, separator, end);
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
      Text.checkedLength((long) out.length() + separator.length() + item.length());
      out.append(i > 0 ? separator : "").append(item);
    }
    return out.toString();
  }

  private static String string(List<Object> args, int index, String method) {
    if (Methods.argument(args, index, method) instanceof String text) {
      return text;
    }
    throw new JinjaException(method + "() wants a string");
  }
}
