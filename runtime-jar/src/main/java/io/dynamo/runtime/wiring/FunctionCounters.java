package io.dynamo.runtime.wiring;

import io.dynamo.metrics.Metrics;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.ToDoubleFunction;
import org.eclipse.microprofile.metrics.Metadata;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.eclipse.microprofile.metrics.Tag;
import org.jspecify.annotations.Nullable;

/**
 * Counters of a registry that are read at each scrape. MicroProfile's interface has none; the
 * registry of SmallRye, which Open Liberty includes, has, as a public method of its class.
 */
final class FunctionCounters {
  private final MetricRegistry registry;
  private final Method make;

  private FunctionCounters(MetricRegistry registry, Method make) {
    this.registry = registry;
    this.make = make;
  }

  /** Returns the counters of {@code registry}; null when it has none. */
  static @Nullable FunctionCounters of(MetricRegistry registry) {
    try {
      return new FunctionCounters(
          registry,
          registry
              .getClass()
              .getMethod(
                  "counter", Metadata.class, Object.class, ToDoubleFunction.class, Tag[].class));
    } catch (NoSuchMethodException none) {
      return null;
    }
  }

  /** Publishes {@code counter}, which must stay reachable for as long as it is to be read. */
  void add(Metadata metadata, Tag[] tags, Metrics.Counter counter) {
    ToDoubleFunction<Metrics.Counter> value = Metrics.Counter::value;
    try {
      make.invoke(registry, metadata, counter, value, tags);
    } catch (InvocationTargetException | IllegalAccessException e) {
      throw new IllegalStateException(
          "the registry does not take the counter " + metadata.getName(), e);
    }
  }
}
