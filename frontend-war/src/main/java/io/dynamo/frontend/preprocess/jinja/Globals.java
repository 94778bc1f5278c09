package io.dynamo.frontend.preprocess.jinja;

import java.time.Clock;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** The functions every template can call. */
final class Globals {
  private static final int MAX_RANGE = 100_000;

  private Globals() {}

  static Scope scope(Clock clock) {
    var scope = new Scope(null);
    scope.set(
        "raise_exception",
        (Function)
            (args, named) -> {
              throw new JinjaException(args.isEmpty() ? "" : Values.text(args.getFirst()));
            });
    scope.set(
        "strftime_now",
        (Function)
            (args, named) ->
                Strftime.format(
                    ZonedDateTime.now(clock),
                    args.isEmpty()
                        ? Values.text(named.getOrDefault("format", ""))
                        : Values.text(args.getFirst())));
    scope.set("range", (Function) (args, named) -> range(args));
    scope.set(
        "namespace",
        (Function)
            (args, named) -> {
              var values = new LinkedHashMap<String, Object>();
              if (!args.isEmpty() && args.getFirst() instanceof Map<?, ?> map) {
                map.forEach((key, value) -> values.put(Values.text(key), value));
              }
              values.putAll(named);
              return new Namespace(values);
            });
    scope.set("dict", (Function) Globals::dict);
    scope.set("cycler", (Function) (args, named) -> new Cycler(args));
    scope.set(
        "joiner", (Function) (args, named) -> joiner(args.isEmpty() ? ", " : args.getFirst()));
    return scope;
  }

  private static Object dict(List<Object> args, Map<String, Object> named) {
    var dict = new LinkedHashMap<Object, Object>();
    if (!args.isEmpty()) {
      if (args.getFirst() instanceof Map<?, ?> map) {
        dict.putAll(map);
      } else {
        for (var pair : Values.iterate(args.getFirst())) {
          var parts = Values.iterate(pair);
          if (parts.size() != 2) {
            throw new JinjaException("dict() wants pairs");
          }
          dict.put(parts.getFirst(), parts.getLast());
        }
      }
    }
    dict.putAll(named);
    return dict;
  }

  /** Gives nothing the first time and the separator from then on. */
  private static Function joiner(Object separator) {
    var used = new AtomicBoolean();
    return (args, named) -> used.getAndSet(true) ? separator : "";
  }

  private static Object range(List<Object> args) {
    if (args.isEmpty()) {
      throw new JinjaException("range expected at least 1 argument, got 0");
    }
    int first = Values.intArgument(args.getFirst());
    int start = args.size() > 1 ? first : 0;
    int end = args.size() > 1 ? Values.intArgument(args.get(1)) : first;
    int step = args.size() > 2 ? Values.intArgument(args.get(2)) : 1;
    if (step == 0) {
      throw new JinjaException("range() arg 3 must not be zero");
    }
    var range = new ArrayList<>();
    for (long i = start; step > 0 ? i < end : i > end; i += step) {
      if (range.size() == MAX_RANGE) {
        throw new JinjaException(
            "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
      }
      range.add(i);
    }
    return range;
  }
}
