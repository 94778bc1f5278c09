package io.dynamo.router.ingest;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.wire.event.EventEnvelope;
import io.dynamo.wire.kv.ActiveLoadCodec;
import java.util.HashSet;
import java.util.Set;

/**
 * Keeps the load reports of the live workers of one endpoint, from its construction until it is
 * closed. Safe for concurrent use.
 */
public final class LoadIntake implements AutoCloseable {
  /**
   * The greatest number of ranks per worker; reports of higher ranks are dropped, which bounds
   * memory.
   */
  public static final int MAX_RANKS = 1024;

  private final ReportedLoads loads;
  private final EndpointInstances instances;
  private final Metrics.Counter undecodable;
  private final Metrics.Counter unknownWorker;
  private final Cancellation.Registration workers;
  private final EventPlane.Subscription reports;
  private Set<InstanceId> live = Set.of(); // guarded by this

  public LoadIntake(
      EndpointId endpoint,
      EndpointInstances instances,
      ReportedLoads loads,
      EventPlane plane,
      Metrics metrics) {
    this.loads = loads;
    this.instances = instances;
    this.undecodable = dropped(metrics, "undecodable");
    this.unknownWorker = dropped(metrics, "unknown_worker");
    this.workers = instances.onChange(this::matchWorkers);
    this.reports = plane.subscribe(new EventSubject(endpoint, ActiveLoad.TOPIC), this::accept);
  }

  private static Metrics.Counter dropped(Metrics metrics, String reason) {
    return metrics.counter(RouterMetrics.LOAD_REPORTS_DROPPED, new Label("reason", reason));
  }

  private synchronized void matchWorkers() {
    var ids = new HashSet<InstanceId>();
    instances.live().forEach(instance -> ids.add(instance.id()));
    live = ids;
    loads.keep(ids);
  }

  private void accept(EventEnvelope envelope) {
    ActiveLoad load;
    try {
      load = ActiveLoadCodec.decode(envelope.payload());
    } catch (IllegalArgumentException notOne) {
      undecodable.increment();
      return;
    }
    int rank = load.rank().rank();
    if (rank < 0 || rank >= MAX_RANKS) {
      undecodable.increment();
      return;
    }
    synchronized (this) {
      if (live.contains(load.rank().worker())) {
        loads.put(load);
        return;
      }
    }
    unknownWorker.increment();
  }

  @Override
  public void close() {
    reports.close();
    workers.close();
  }
}
