package io.dynamo.runtime.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;
import org.eclipse.microprofile.metrics.Counter;
import org.eclipse.microprofile.metrics.Metadata;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.eclipse.microprofile.metrics.Tag;
import org.junit.jupiter.api.Test;

class MicroProfileMetricsOutletTest {
  private static final MetricName REQUESTS = new MetricName("requests_total", "Requests");

  /** The methods of SmallRye's registry beside the interface. */
  public interface ReadCounters {
    <T> Counter counter(Metadata metadata, T of, ToDoubleFunction<T> value, Tag... tags);
  }

  private final Map<String, DoubleSupplier> scraped = new ConcurrentHashMap<>();
  private final Metrics metrics = new Metrics();

  /** Keeps what is registered by its name. */
  private MetricRegistry registry(Class<?>... types) {
    return (MetricRegistry)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            types,
            (_, method, arguments) -> {
              var name = ((Metadata) arguments[0]).getName();
              if (method.getDeclaringClass() == ReadCounters.class) {
                @SuppressWarnings("unchecked")
                var value = (ToDoubleFunction<Object>) arguments[2];
                scraped.put(name, () -> value.applyAsDouble(arguments[1]));
                return null;
              }
              var counter = new Counted();
              scraped.put(name, counter::getCount);
              return counter;
            });
  }

  private static final class Counted implements Counter {
    private long count;

    @Override
    public void inc() {
      count++;
    }

    @Override
    public void inc(long by) {
      count += by;
    }

    @Override
    public long getCount() {
      return count;
    }
  }

  private double scrape() {
    var found = scraped.get("requests_total");
    if (found == null) {
      throw new AssertionError("not registered");
    }
    return found.getAsDouble();
  }

  @Test
  void countersAreReadAtEachScrape() {
    var outlet = new MicroProfileMetricsOutlet(registry(MetricRegistry.class, ReadCounters.class));
    metrics.attach(outlet);
    var counter = metrics.counter(REQUESTS);
    counter.add(3);
    assertThat(scrape()).isEqualTo(3);
    counter.increment();
    assertThat(scrape()).isEqualTo(4);
    outlet.refresh();
    assertThat(scrape()).as("counted once").isEqualTo(4);
  }

  @Test
  void aRegistryThatCannotBeReadIsLogged() {
    var outlet = new MicroProfileMetricsOutlet(registry(MetricRegistry.class));
    metrics.attach(outlet);
    metrics.counter(REQUESTS).add(3);
    outlet.refresh();
    outlet.refresh();
    assertThat(scrape()).isEqualTo(3);
  }
}
