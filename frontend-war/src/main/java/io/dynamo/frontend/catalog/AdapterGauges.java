package io.dynamo.frontend.catalog;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Publishes on how many workers each LoRA adapter is loaded. An adapter's series appears with its
 * first worker and disappears with the last. Safe for concurrent use.
 */
public final class AdapterGauges implements AutoCloseable {
  private static final int MOST = 1000; // adapters that are shown

  private record Place(EndpointId endpoint, String adapter) {
    Label[] labels() {
      return new Label[] {new Label("endpoint", endpoint.toString()), new Label("lora", adapter)};
    }
  }

  private final Predicate<EndpointId> serves;
  private final Metrics metrics;
  private final Map<Place, Set<InstanceId>> workers = new HashMap<>(); // guarded by this
  private final Discovery.Handle watch;

  /**
   * @param serves whether adapters of an endpoint are shown
   */
  public AdapterGauges(Discovery discovery, Predicate<EndpointId> serves, Metrics metrics) {
    this.serves = serves;
    this.metrics = metrics;
    this.watch = discovery.watch(ModelRecord.class, this::onEvent);
  }

  private void onEvent(DiscoveryEvent<ModelRecord> event) {
    switch (event) {
      case DiscoveryEvent.Added<ModelRecord>(var record) -> added(record);
      case DiscoveryEvent.Lost<ModelRecord>(var record) -> lost(record);
    }
  }

  private synchronized void added(ModelRecord record) {
    var adapter = record.card().lora();
    if (adapter == null || !serves.test(record.endpoint())) {
      return;
    }
    var place = new Place(record.endpoint(), adapter.name());
    var known = workers.get(place);
    if (known != null) {
      known.add(record.id());
    } else if (workers.size() < MOST) {
      Set<InstanceId> first = ConcurrentHashMap.newKeySet();
      first.add(record.id());
      workers.put(place, first);
      metrics.gauge(FrontendMetrics.ADAPTER_WORKERS, first::size, place.labels());
    }
  }

  private synchronized void lost(ModelRecord record) {
    var adapter = record.card().lora();
    if (adapter == null) {
      return;
    }
    var place = new Place(record.endpoint(), adapter.name());
    var known = workers.get(place);
    if (known != null && known.remove(record.id()) && known.isEmpty()) {
      workers.remove(place);
      metrics.removeGauge(FrontendMetrics.ADAPTER_WORKERS, place.labels());
    }
  }

  /** Stops following. Idempotent. */
  @Override
  public void close() {
    watch.close();
  }
}
