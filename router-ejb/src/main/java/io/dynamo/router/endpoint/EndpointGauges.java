package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.runtime.EndpointInstances;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.DoubleSupplier;

/**
 * The gauges of one endpoint, published only while the endpoint has workers. Safe for concurrent
 * use.
 */
final class EndpointGauges implements AutoCloseable {
  private final Metrics metrics;
  private final Label label;
  private final EndpointInstances workers;
  private final Map<MetricName, DoubleSupplier> values = new LinkedHashMap<>(); // guarded by this
  private final Cancellation.Registration changes;
  private boolean published; // guarded by this

  EndpointGauges(Metrics metrics, EndpointId endpoint, EndpointInstances workers) {
    this.metrics = metrics;
    this.label = new Label("endpoint", endpoint.toString());
    this.workers = workers;
    this.changes = workers.onChange(this::workersChanged);
  }

  /** Adds a gauge; the first value of a name stays. */
  synchronized void add(MetricName name, DoubleSupplier value) {
    if (values.putIfAbsent(name, value) == null && published) {
      metrics.gauge(name, value, label);
    }
  }

  private synchronized void workersChanged() {
    boolean wanted = !workers.live().isEmpty();
    if (wanted != published) {
      published = wanted;
      values.forEach(
          (name, value) -> {
            if (wanted) {
              metrics.gauge(name, value, label);
            } else {
              metrics.removeGauge(name, label);
            }
          });
    }
  }

  /** Removes all gauges and stops publishing. Idempotent. */
  @Override
  public void close() {
    changes.close();
    synchronized (this) {
      values.keySet().forEach(name -> metrics.removeGauge(name, label));
      values.clear();
      published = false;
    }
  }
}
