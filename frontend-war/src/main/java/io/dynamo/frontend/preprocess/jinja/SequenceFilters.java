package io.dynamo.frontend.preprocess.jinja;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Filters that order, choose and group items. */
final class SequenceFilters {
  private static final int MAX_DISTINCT = 256; // each is compared with all others
  private static final int MAX_PARTS = 100_000; // that are made whether there are items or not
  private static final int MAX_SUM = 1 << 20; // characters or items of a sum of such

  private SequenceFilters() {}

  static Object dictSort(Object value, Inputs in) {
    if (!(value instanceof Map<?, ?> map)) {
      throw new JinjaException("'" + Values.typeName(value) + "' object has no attribute 'items'");
    }
    int by = in.text(1, "by", "key").equals("value") ? 1 : 0;
    return items(
        sorted(
            Methods.items(map),
            in.flag(0, "case_sensitive"),
            item -> ((List<?>) item).get(by),
            in.flag(2, "reverse")));
  }

  static Object sort(Object value, Inputs in) {
    var attribute = in.find(2, "attribute");
    return items(
        sorted(
            Values.iterate(value),
            in.flag(1, "case_sensitive"),
            item -> attribute == null ? item : Access.path(item, attribute),
            in.flag(0, "reverse")));
  }

  /** An item with its sort key, which is computed once. */
  private record Keyed(Object item, Object key) {
    static final Comparator<Keyed> ORDER = (a, b) -> Values.compare(a.key, b.key);
  }

  private static List<Keyed> keyed(
      List<Object> items, boolean caseSensitive, java.util.function.Function<Object, Object> key) {
    var keyed = new ArrayList<Keyed>(items.size());
    for (var item : items) {
      keyed.add(new Keyed(item, folded(key.apply(item), caseSensitive)));
    }
    return keyed;
  }

  private static List<Keyed> sorted(
      List<Object> items,
      boolean caseSensitive,
      java.util.function.Function<Object, Object> key,
      boolean reverse) {
    var keyed = keyed(items, caseSensitive, key);
    keyed.sort(reverse ? Keyed.ORDER.reversed() : Keyed.ORDER);
    return keyed;
  }

  private static List<Object> items(List<Keyed> keyed) {
    var items = new ArrayList<>(keyed.size());
    for (var one : keyed) {
      items.add(one.item);
    }
    return items;
  }

  private static Object folded(Object value, boolean caseSensitive) {
    return !caseSensitive && value instanceof String text ? text.toLowerCase(Locale.ROOT) : value;
  }

  static Object reverse(Object value) {
    if (value instanceof String text) {
      return new StringBuilder(text).reverse().toString();
    }
    var items = new ArrayList<>(Values.iterate(value));
    Collections.reverse(items);
    return items;
  }

  static Object unique(Object value, Inputs in) {
    boolean caseSensitive = in.flag(0, "case_sensitive");
    var attribute = in.find(1, "attribute");
    var scalars = new HashSet<>();
    var others = new ArrayList<>();
    var unique = new ArrayList<>();
    for (var item : Values.iterate(value)) {
      var key = folded(attribute == null ? item : Access.path(item, attribute), caseSensitive);
      var scalar = scalar(key);
      boolean isNew = scalar == null ? !Values.contains(others, key) : scalars.add(scalar);
      if (isNew) {
        unique.add(item);
      }
      if (isNew && scalar == null) {
        if (others.size() == MAX_DISTINCT) {
          throw new JinjaException(
              "unique finds more than " + MAX_DISTINCT + " different lists or maps");
        }
        others.add(key);
      }
    }
    return unique;
  }

  /** An object that equals those of all equal strings or numbers; null for anything else. */
  private static @Nullable Object scalar(Object key) {
    var number = Values.number(key);
    if (number instanceof Double real) {
      double value = real;
      return value == Math.rint(value) && !Double.isInfinite(value)
          ? new BigDecimal(value).toBigInteger()
          : real;
    }
    return number != null ? Values.big(number) : key instanceof String ? key : null;
  }

  /**
   * Returns the items of a true value, and none for a false one: as jinja2's filters that choose or
   * map do.
   */
  private static Iterable<Object> itemsIfTrue(Object value) {
    return Values.isTrue(value) ? Values.iterate(value) : List.of();
  }

  static Object map(Object value, Inputs in) {
    var attribute = in.named().get("attribute");
    var otherwise = in.named().get("default");
    var mapped = new ArrayList<>();
    for (var item : itemsIfTrue(value)) {
      if (attribute == null) {
        var rest =
            in.positional().subList(Math.min(1, in.positional().size()), in.positional().size());
        in.time().check();
        mapped.add(
            Filters.apply(in.text(0, "filter", ""), item, new Inputs(rest, in.named(), in.time())));
      } else {
        var found = Access.path(item, attribute);
        mapped.add(found instanceof Undefined && otherwise != null ? otherwise : found);
      }
    }
    return mapped;
  }

  static Object select(Object value, Inputs in, boolean keep, boolean byAttribute) {
    var args = in.positional();
    int test = byAttribute ? 1 : 0;
    if (byAttribute && args.isEmpty()) {
      throw new JinjaException("selectattr needs an attribute");
    }
    var selected = new ArrayList<>();
    for (var item : itemsIfTrue(value)) {
      in.time().check();
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

  static Object sum(Object value, Inputs in) {
    var attribute = in.find(0, "attribute");
    Object sum = in.get(1, "start", 0L);
    for (var item : Values.iterate(value)) {
      in.time().check(); // lists and texts are copied each time
      sum = new Arithmetic(MAX_SUM).apply("+", sum, part(item, attribute));
    }
    return sum;
  }

  static Object extreme(Object value, Inputs in, boolean least) {
    var attribute = in.find(1, "attribute");
    boolean caseSensitive = in.flag(0, "case_sensitive");
    var items = Values.iterate(value);
    if (items.isEmpty()) {
      return new Undefined("No aggregated item, sequence was empty.");
    }
    var order = least ? Keyed.ORDER : Keyed.ORDER.reversed();
    var keyed = keyed(items, caseSensitive, item -> part(item, attribute));
    var found = keyed.getFirst();
    for (var one : keyed) {
      found = order.compare(one, found) < 0 ? one : found;
    }
    return found.item;
  }

  static Object batch(Object value, Inputs in) {
    int size = in.integer(0, "linecount", 0);
    if (size < 1) {
      throw new JinjaException("batch needs the size of a batch");
    }
    if (size > MAX_PARTS) {
      throw new JinjaException("batch makes batches of at most " + MAX_PARTS + " items");
    }
    var fill = in.get(1, "fill_with", None.NONE);
    var items = Values.iterate(value);
    var batches = new ArrayList<>();
    for (int from = 0; from < items.size(); from += size) {
      var batch = new ArrayList<>(items.subList(from, Math.min(items.size(), from + size)));
      while (fill != None.NONE && batch.size() < size) {
        batch.add(fill);
      }
      batches.add(batch);
    }
    return batches;
  }

  static Object slice(Object value, Inputs in) {
    int slices = in.integer(0, "slices", 0);
    if (slices > MAX_PARTS) {
      throw new JinjaException("slice makes at most " + MAX_PARTS + " slices");
    }
    if (slices < 1) {
      throw new JinjaException("slice needs the number of slices");
    }
    var fill = in.get(1, "fill_with", None.NONE);
    var items = Values.iterate(value);
    int longer = items.size() % slices;
    var sliced = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < slices; i++) {
      int to = from + items.size() / slices + (i < longer ? 1 : 0);
      var slice = new ArrayList<>(items.subList(from, to));
      if (fill != None.NONE && i >= longer) {
        slice.add(fill);
      }
      sliced.add(slice);
      from = to;
    }
    return sliced;
  }

  static Object groupBy(Object value, Inputs in) {
    var attribute = in.get(0, "attribute", None.NONE);
    var otherwise = in.find(1, "default");
    boolean caseSensitive = in.flag(2, "case_sensitive");
    java.util.function.Function<Object, Object> key =
        item -> {
          var found = part(item, attribute);
          return found instanceof Undefined && otherwise != null ? otherwise : found;
        };
    var items = sorted(Values.iterate(value), caseSensitive, key, false);
    var groups = new ArrayList<>();
    for (int from = 0; from < items.size(); ) {
      int to = from + 1;
      while (to < items.size() && Keyed.ORDER.compare(items.get(from), items.get(to)) == 0) {
        to++;
      }
      groups.add(
          new Tuple(
              List.of(key.apply(items.get(from).item), items(items.subList(from, to))),
              List.of("grouper", "list")));
      from = to;
    }
    return groups;
  }

  private static Object part(Object item, @Nullable Object attribute) {
    return attribute == null || attribute == None.NONE ? item : Access.path(item, attribute);
  }
}
