package io.dynamo.frontend.preprocess.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The filters: functions that may follow {@code |}. */
final class Filters {
  private static final Set<String> KNOWN =
      Set.of(
          "tojson",
          "length",
          "count",
          "trim",
          "upper",
          "lower",
          "title",
          "capitalize",
          "replace",
          "default",
          "d",
          "join",
          "first",
          "last",
          "list",
          "string",
          "int",
          "float",
          "items",
          "dictsort",
          "sort",
          "reverse",
          "unique",
          "map",
          "select",
          "reject",
          "selectattr",
          "rejectattr",
          "indent",
          "abs",
          "round",
          "sum",
          "min",
          "max",
          "safe",
          "escape",
          "e",
          "attr",
          "batch",
          "slice",
          "groupby",
          "center",
          "wordcount",
          "truncate",
          "format");
  private static final Pattern WORD = Pattern.compile("\\w+", Pattern.UNICODE_CHARACTER_CLASS);

  private static final int MAX_PRECISION = 1100; // digits: a double has no more on either side

  private Filters() {}

  static boolean isKnown(String name) {
    return KNOWN.contains(name);
  }

  static Object apply(String name, Object value, Inputs in) {
    var args = in.positional();
    var named = in.named();
    return switch (name) {
      case "tojson" -> toJson(value, in);
      case "length", "count" -> Values.length(value);
      case "trim" -> TextMethods.strip(Values.text(value), args, true, true);
      case "upper" -> Values.text(value).toUpperCase(Locale.ROOT);
      case "lower" -> Values.text(value).toLowerCase(Locale.ROOT);
      case "title" -> TextMethods.titleWords(Values.text(value));
      case "capitalize" -> TextMethods.capitalize(Values.text(value));
      case "replace" ->
          TextMethods.replace(
              Values.text(value),
              in.text(0, "old", ""),
              in.text(1, "new", ""),
              in.integer(2, "count", -1));
      case "default", "d" -> {
        boolean falseToo = Values.isTrue(in.get(1, "boolean", false));
        boolean absent = value instanceof Undefined || (falseToo && !Values.isTrue(value));
        yield absent ? in.get(0, "default_value", "") : value;
      }
      case "join" -> join(value, in);
      case "first" -> edge(value, true);
      case "last" -> edge(value, false);
      case "list" -> Values.iterate(value);
      case "string", "safe" -> Values.text(value);
      case "int" -> integer(value, in.get(0, "default", 0L));
      case "float" -> decimal(value, in.get(0, "default", 0.0));
      case "items" -> items(value);
      case "dictsort" -> SequenceFilters.dictSort(value, in);
      case "sort" -> SequenceFilters.sort(value, in);
      case "reverse" -> SequenceFilters.reverse(value);
      case "unique" -> SequenceFilters.unique(value, in);
      case "map" -> SequenceFilters.map(value, in);
      case "select", "reject" -> SequenceFilters.select(value, in, name.equals("select"), false);
      case "selectattr", "rejectattr" ->
          SequenceFilters.select(value, in, name.equals("selectattr"), true);
      case "batch" -> SequenceFilters.batch(value, in);
      case "slice" -> SequenceFilters.slice(value, in);
      case "groupby" -> SequenceFilters.groupBy(value, in);
      case "min", "max" -> SequenceFilters.extreme(value, in, name.equals("min"));
      case "center" -> TextMethods.center(Values.text(value), in.integer(0, "width", 80));
      case "wordcount" -> WORD.matcher(Values.text(value)).results().count();
      case "truncate" -> {
        if (!(value instanceof String text)) {
          throw new JinjaException("object of type '" + Values.typeName(value) + "' has no len()");
        }
        yield truncate(text, in);
      }
      case "format" ->
          Formats.percent(Values.text(value), named.isEmpty() ? new Tuple(args) : named);
      case "indent" -> {
        if (!(value instanceof String text)) {
          throw new JinjaException("'" + Values.typeName(value) + "' cannot be indented");
        }
        yield indent(text, in);
      }
      case "abs" -> new Arithmetic(1).apply(Values.compare(value, 0L) < 0 ? "-" : "+", 0L, value);
      case "round" -> round(value, in);
      case "sum" -> SequenceFilters.sum(value, in);
      case "escape", "e" ->
          Values.text(value)
              .replace("&", "&amp;")
              .replace(">", "&gt;")
              .replace("<", "&lt;")
              .replace("'", "&#39;")
              .replace("\"", "&#34;");
      case "attr" -> Access.attribute(value, in.text(0, "name", ""));
      default -> throw new JinjaException("No filter named '" + name + "' found.");
    };
  }

  /** As in {@code transformers}: {@code tojson(indent=None, separators=None, sort_keys=False)}. */
  private static Object toJson(Object value, Inputs in) {
    Object indent = in.get(1, "indent", None.NONE);
    var spaces =
        switch (indent) {
          case None _ -> null;
          case String text -> text;
          default -> " ".repeat(Math.clamp(Values.intArgument(indent), 0, 100));
        };
    var separators =
        in.find(2, "separators") instanceof List<?> pair
            ? pair
            : List.of(spaces == null ? ", " : ",", ": ");
    return new PythonJson(
            Values.text(separators.getFirst()),
            Values.text(separators.getLast()),
            spaces,
            in.flag(3, "sort_keys"),
            in.flag(0, "ensure_ascii"))
        .write(value);
  }

  private static String join(Object value, Inputs in) {
    var attribute = in.find(1, "attribute");
    var separator = in.text(0, "d", "");
    var out = new StringBuilder();
    boolean first = true;
    for (var item : Values.iterate(value)) {
      var text = Values.text(attribute == null ? item : Access.path(item, attribute));
      Text.checkedLength((long) out.length() + separator.length() + text.length());
      out.append(first ? "" : separator).append(text);
      first = false;
    }
    return out.toString();
  }

  private static Object edge(Object value, boolean first) {
    if (value instanceof String text && !text.isEmpty()) {
      int at = first ? 0 : text.offsetByCodePoints(text.length(), -1);
      return Character.toString(text.codePointAt(at));
    }
    var items = Values.iterate(value);
    return items.isEmpty()
        ? new Undefined("No " + (first ? "first" : "last") + " item, sequence was empty.")
        : first ? items.getFirst() : items.getLast();
  }

  private static Object integer(Object value, Object otherwise) {
    return switch (value) {
      case Boolean bool -> bool ? 1L : 0L;
      case Double number when Double.isFinite(number) ->
          Values.integer(new BigDecimal(number).toBigInteger());
      case Double _ -> otherwise;
      case Number number -> number;
      case String text -> {
        try {
          yield Values.integer(new BigInteger(text.strip()));
        } catch (NumberFormatException e) {
          yield decimal(text, None.NONE) instanceof Double number
              ? integer(number, otherwise)
              : otherwise;
        }
      }
      default -> otherwise;
    };
  }

  private static Object decimal(Object value, Object otherwise) {
    if (value instanceof String text) {
      try {
        return Double.valueOf(text.strip());
      } catch (NumberFormatException e) {
        return otherwise;
      }
    }
    var number = Values.number(value);
    return number == null ? otherwise : number.doubleValue();
  }

  private static Object round(Object value, Inputs in) {
    var number = Values.number(value);
    if (number == null) {
      throw new JinjaException("type " + Values.typeName(value) + " doesn't define round");
    }
    var mode =
        switch (in.text(1, "method", "common")) {
          case "ceil" -> RoundingMode.CEILING;
          case "floor" -> RoundingMode.FLOOR;
          default -> RoundingMode.HALF_EVEN;
        };
    int precision = Math.clamp(in.integer(0, "precision", 0), -MAX_PRECISION, MAX_PRECISION);
    if (mode == RoundingMode.HALF_EVEN && !(number instanceof Double) && precision >= 0) {
      return number;
    }
    double exact = number.doubleValue();
    return Double.isFinite(exact)
        ? Math.copySign(new BigDecimal(exact).setScale(precision, mode).doubleValue(), exact)
        : exact;
  }

  private static Object items(Object value) {
    return switch (value) {
      case Map<?, ?> map -> Methods.items(map);
      case Undefined _ -> List.of();
      default -> throw new JinjaException("Can only get item pairs from a mapping.");
    };
  }

  private static Object indent(String text, Inputs in) {
    var width = in.get(0, "width", 4L);
    var margin =
        width instanceof String spaces
            ? spaces
            : " ".repeat(Text.checkedLength(Math.max(0, Values.intArgument(width))));
    boolean blank = in.flag(2, "blank");
    var lines = Text.lines(text + "\n", false);
    var out = new StringBuilder(in.flag(1, "first") ? margin : "").append(lines.getFirst());
    for (var line : lines.subList(1, lines.size())) {
      Text.checkedLength((long) out.length() + margin.length() + ((String) line).length());
      out.append('\n').append(blank || !"".equals(line) ? margin : "").append(line);
    }
    return out.toString();
  }

  private static String truncate(String text, Inputs in) {
    int length = in.integer(0, "length", 255);
    var end = in.text(2, "end", "...");
    if (Values.length(text) <= length + (long) in.integer(3, "leeway", 5)) {
      return text;
    }
    int kept = length - (int) Values.length(end);
    if (kept < 0) {
      throw new JinjaException("expected length >= %d, got %d".formatted(end.length(), length));
    }
    var start = text.substring(0, text.offsetByCodePoints(0, kept));
    int space = start.lastIndexOf(' ');
    return (in.flag(1, "killwords") || space < 0 ? start : start.substring(0, space)) + end;
  }
}
