package io.dynamo.frontend.preprocess.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What may follow {@code |}. */
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
          "attr");

  private Filters() {}

  static boolean isKnown(String name) {
    return KNOWN.contains(name);
  }

  static Object apply(String name, Object value, List<Object> args, Map<String, Object> named) {
    var in = new Inputs(args, named);
    return switch (name) {
      case "tojson" -> toJson(value, in);
      case "length", "count" -> Values.length(value);
      case "trim" -> Methods.strip(Values.text(value), args, true, true);
      case "upper" -> Values.text(value).toUpperCase(Locale.ROOT);
      case "lower" -> Values.text(value).toLowerCase(Locale.ROOT);
      case "title" -> Methods.title(Values.text(value));
      case "capitalize" -> Methods.capitalize(Values.text(value));
      case "replace" ->
          Methods.replace(
              Values.text(value),
              in.text(0, "old", ""),
              in.text(1, "new", ""),
              in.integer(2, "count", -1));
      case "default", "d" -> {
        boolean falseToo = Values.isTrue(in.get(1, "boolean", false));
        boolean absent = value instanceof Undefined || (falseToo && !Values.isTrue(value));
        yield absent ? in.get(0, "default_value", "") : value;
      }
      case "join" -> {
        var attribute = in.find(1, "attribute");
        yield Values.iterate(value).stream()
            .map(item -> Values.text(attribute == null ? item : Access.path(item, attribute)))
            .collect(Collectors.joining(in.text(0, "d", "")));
      }
      case "first" -> edge(Values.iterate(value), true);
      case "last" -> edge(Values.iterate(value), false);
      case "list" -> Values.iterate(value);
      case "string", "safe" -> Values.text(value);
      case "int" -> integer(value, in.get(0, "default", 0L));
      case "float" -> decimal(value, in.get(0, "default", 0.0));
      case "items" -> items(value);
      case "dictsort" -> dictSort(value, in);
      case "sort" -> sort(value, in);
      case "reverse" -> reverse(value);
      case "unique" -> unique(value, in);
      case "map" -> map(value, in);
      case "select", "reject" -> select(value, args, name.equals("select"), false);
      case "selectattr", "rejectattr" -> select(value, args, name.equals("selectattr"), true);
      case "indent" -> indent(Values.text(value), in);
      case "abs" -> Values.compare(value, 0L) < 0 ? new Arithmetic(1).apply("-", 0L, value) : value;
      case "round" -> round(value, in);
      case "sum" -> {
        var attribute = in.find(0, "attribute");
        Object sum = in.get(1, "start", 0L);
        for (var item : Values.iterate(value)) {
          sum =
              new Arithmetic(1)
                  .apply("+", sum, attribute == null ? item : Access.path(item, attribute));
        }
        yield sum;
      }
      case "min", "max" -> {
        Comparator<Object> order = Values::compare;
        var items = Values.iterate(value);
        yield items.isEmpty()
            ? new Undefined("No aggregated item, sequence was empty.")
            : name.equals("min") ? Collections.min(items, order) : Collections.max(items, order);
      }
      case "escape", "e" ->
          Values.text(value)
              .replace("&", "&amp;")
              .replace(">", "&gt;")
              .replace("<", "&lt;")
              .replace("'", "&#39;")
              .replace("\"", "&#34;");
      case "attr" -> Access.attribute(value, in.text(0, "name", ""));
      default -> throw new JinjaException("No filter named '" + name + "'.");
    };
  }

  /** Arguments by position or name. */
  private record Inputs(List<Object> positional, Map<String, Object> named) {
    @Nullable Object find(int index, String name) {
      return index < positional.size() ? positional.get(index) : named.get(name);
    }

    Object get(int index, String name, Object otherwise) {
      var found = find(index, name);
      return found == null ? otherwise : found;
    }

    String text(int index, String name, String otherwise) {
      return Values.text(get(index, name, otherwise));
    }

    int integer(int index, String name, int otherwise) {
      var found = find(index, name);
      return found == null || found == None.NONE ? otherwise : Values.intArgument(found);
    }

    boolean flag(int index, String name) {
      return Values.isTrue(get(index, name, false));
    }
  }

  /** As in {@code transformers}: {@code tojson(indent=None, separators=None, sort_keys=False)}. */
  private static Object toJson(Object value, Inputs in) {
    Object indent = in.get(1, "indent", None.NONE);
    boolean lines = indent != None.NONE;
    var spaces =
        !lines ? "" : indent instanceof String text ? text : " ".repeat(Values.intArgument(indent));
    var separators = in.find(2, "separators");
    return separators instanceof List<?> pair
        ? new PythonJson(
                Values.text(pair.getFirst()),
                Values.text(pair.getLast()),
                spaces,
                in.flag(3, "sort_keys"))
            .write(value)
        : new PythonJson(lines ? "," : ", ", ": ", spaces, in.flag(3, "sort_keys")).write(value);
  }

  private static Object edge(List<Object> items, boolean first) {
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
    double exact = number.doubleValue();
    return Double.isFinite(exact)
        ? new BigDecimal(exact).setScale(in.integer(0, "precision", 0), mode).doubleValue()
        : exact;
  }

  private static Object items(Object value) {
    return switch (value) {
      case Map<?, ?> map -> Methods.items(map);
      case Undefined _ -> List.of();
      default -> throw new JinjaException("Can only get item pairs from a mapping.");
    };
  }

  private static Object dictSort(Object value, Inputs in) {
    if (!(value instanceof Map<?, ?> map)) {
      throw new JinjaException("'" + Values.typeName(value) + "' object has no attribute 'items'");
    }
    int by = in.text(1, "by", "key").equals("value") ? 1 : 0;
    var items = Methods.items(map);
    items.sort(
        order(
            in.flag(0, "case_sensitive"), item -> ((List<?>) item).get(by), in.flag(2, "reverse")));
    return items;
  }

  private static Object sort(Object value, Inputs in) {
    var attribute = in.find(2, "attribute");
    var items = new ArrayList<>(Values.iterate(value));
    items.sort(
        order(
            in.flag(1, "case_sensitive"),
            item -> attribute == null ? item : Access.path(item, attribute),
            in.flag(0, "reverse")));
    return items;
  }

  private static Comparator<Object> order(
      boolean caseSensitive, java.util.function.Function<Object, Object> key, boolean reverse) {
    Comparator<Object> order =
        (a, b) ->
            Values.compare(
                folded(key.apply(a), caseSensitive), folded(key.apply(b), caseSensitive));
    return reverse ? order.reversed() : order;
  }

  private static Object folded(Object value, boolean caseSensitive) {
    return !caseSensitive && value instanceof String text ? text.toLowerCase(Locale.ROOT) : value;
  }

  private static Object reverse(Object value) {
    if (value instanceof String text) {
      return new StringBuilder(text).reverse().toString();
    }
    var items = new ArrayList<>(Values.iterate(value));
    Collections.reverse(items);
    return items;
  }

  private static Object unique(Object value, Inputs in) {
    boolean caseSensitive = in.flag(0, "case_sensitive");
    var attribute = in.find(1, "attribute");
    var seen = new ArrayList<>();
    var unique = new ArrayList<>();
    for (var item : Values.iterate(value)) {
      var key = folded(attribute == null ? item : Access.path(item, attribute), caseSensitive);
      if (!Values.contains(seen, key)) {
        seen.add(key);
        unique.add(item);
      }
    }
    return unique;
  }

  private static Object map(Object value, Inputs in) {
    var attribute = in.named.get("attribute");
    var otherwise = in.named.get("default");
    var mapped = new ArrayList<>();
    for (var item : Values.iterate(value)) {
      if (attribute == null) {
        var rest = in.positional.subList(Math.min(1, in.positional.size()), in.positional.size());
        mapped.add(apply(in.text(0, "filter", ""), item, rest, in.named));
      } else {
        var found = Access.path(item, attribute);
        mapped.add(found instanceof Undefined && otherwise != null ? otherwise : found);
      }
    }
    return mapped;
  }

  private static Object select(Object value, List<Object> args, boolean keep, boolean byAttribute) {
    int test = byAttribute ? 1 : 0;
    if (byAttribute && args.isEmpty()) {
      throw new JinjaException("selectattr needs an attribute");
    }
    var selected = new ArrayList<>();
    for (var item : Values.iterate(value)) {
      var tested = byAttribute ? Access.path(item, args.getFirst()) : item;
      boolean passes =
          args.size() > test
              ? Tests.apply(
                  Values.text(args.get(test)), tested, args.subList(test + 1, args.size()))
              : Values.isTrue(tested);
      if (passes == keep) {
        selected.add(item);
      }
    }
    return selected;
  }

  private static Object indent(String text, Inputs in) {
    var width = in.get(0, "width", 4L);
    var margin = width instanceof String spaces ? spaces : " ".repeat(Values.intArgument(width));
    boolean blank = in.flag(2, "blank");
    var lines = text.split("\n", -1);
    var out = new StringBuilder(in.flag(1, "first") ? margin : "").append(lines[0]);
    for (int i = 1; i < lines.length; i++) {
      out.append('\n').append(blank || !lines[i].isEmpty() ? margin : "").append(lines[i]);
    }
    return out.toString();
  }
}
