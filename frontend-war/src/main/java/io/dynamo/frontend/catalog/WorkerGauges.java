package io.dynamo.frontend.catalog;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.router.BookedLoads;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.DoubleSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the load of each rank of each worker, as booked by the router, and the rank's most
 * recent latencies. A worker's series appear with its first card and disappear with its last: a
 * server with several models is one worker. Safe for concurrent use.
 */
public final class WorkerGauges implements AutoCloseable {
  private static final int MOST_RANKS = 256; // of one worker

  /** The most recent latencies of one rank. Safe for concurrent use. */
  public final class Pace {
    private final Label[] labels;
    private final Set<MetricName> published = new LinkedHashSet<>(); // guarded by the gauges
    private boolean gone; // guarded by the gauges
    private volatile double firstTokenSeconds = Double.NaN; // NaN before the first one
    private volatile double inputTokens;
    private volatile double interTokenSeconds = Double.NaN; // likewise

    private Pace(Set<EndpointId> endpoints, WorkerRank rank, String type) {
      labels =
          new Label[] {
            new Label("worker_id", Long.toUnsignedString(rank.worker().value())),
            new Label("dp_rank", Integer.toString(rank.rank())),
            new Label("worker_type", type)
          };
      publish(
          FrontendMetrics.WORKER_BLOCKS,
          () -> endpoints.stream().mapToInt(endpoint -> loads.blocks(endpoint, rank)).sum());
      publish(
          FrontendMetrics.WORKER_PREFILL,
          () ->
              endpoints.stream().mapToLong(endpoint -> loads.prefillTokens(endpoint, rank)).sum());
    }

    /** Records the time from a request to its first token. */
    public void firstToken(double seconds, int promptTokens) {
      boolean first = Double.isNaN(firstTokenSeconds);
      firstTokenSeconds = seconds;
      inputTokens = promptTokens;
      if (first) {
        publish(FrontendMetrics.WORKER_FIRST_TOKEN, () -> firstTokenSeconds);
        publish(FrontendMetrics.WORKER_INPUT, () -> inputTokens);
      }
    }

    /** Records the time from one token to the next. */
    public void nextToken(double seconds) {
      boolean first = Double.isNaN(interTokenSeconds);
      interTokenSeconds = seconds;
      if (first) {
        publish(FrontendMetrics.WORKER_INTER_TOKEN, () -> interTokenSeconds);
      }
    }

    private void publish(MetricName name, DoubleSupplier value) {
      synchronized (WorkerGauges.this) {
        if (!gone && published.add(name)) {
          metrics.gauge(name, value, labels);
        }
      }
    }

    /** Called with the lock. */
    private void retire() {
      gone = true;
      published.forEach(name -> metrics.removeGauge(name, labels));
    }
  }

  /**
   * The ranks of a worker, from {@code first} on, as described by its first card.
   *
   * @param endpoints endpoints of its models; safe for concurrent use, changed under lock
   */
  private record Ranks(int first, List<Pace> paces, Set<EndpointId> endpoints) {}

  private final BookedLoads loads;
  private final Predicate<EndpointId> serves;
  private final Metrics metrics;
  private final Map<InstanceId, Ranks> workers = new ConcurrentHashMap<>(); // changed under lock
  private Discovery.@Nullable Handle watch; // guarded by this

  /**
   * @param serves whether workers of an endpoint are shown
   */
  public WorkerGauges(BookedLoads loads, Predicate<EndpointId> serves, Metrics metrics) {
    this.loads = loads;
    this.serves = serves;
    this.metrics = metrics;
  }

  /** Follows the workers in {@code discovery} until it is closed. To be called once. */
  public void follow(Discovery discovery) {
    var handle = discovery.watch(ModelRecord.class, this::onEvent);
    synchronized (this) {
      watch = handle;
    }
  }

  private void onEvent(DiscoveryEvent<ModelRecord> event) {
    switch (event) {
      case DiscoveryEvent.Added<ModelRecord>(var record) -> {
        if (record.suffix() == null && serves.test(record.endpoint())) {
          added(record);
        }
      }
      case DiscoveryEvent.Lost<ModelRecord>(var record) -> {
        if (record.suffix() == null) {
          lost(record);
        }
      }
    }
  }

  private synchronized void added(ModelRecord record) {
    var known = workers.get(record.id());
    if (known != null) {
      known.endpoints.add(record.endpoint());
      return;
    }
    var card = record.card();
    int first =
        card.runtimeConfig().get("data_parallel_start_rank") instanceof Number number
            ? Math.max(0, number.intValue())
            : 0;
    var type = "prefill".equals(card.workerType()) ? "prefill" : "decode";
    Set<EndpointId> endpoints = new CopyOnWriteArraySet<>(List.of(record.endpoint()));
    var ranks = new ArrayList<Pace>();
    for (int i = 0; i < Math.clamp(card.ranks(), 1, MOST_RANKS); i++) {
      ranks.add(new Pace(endpoints, new WorkerRank(record.id(), first + i), type));
    }
    workers.put(record.id(), new Ranks(first, List.copyOf(ranks), endpoints));
  }

  private synchronized void lost(ModelRecord record) {
    var ranks = workers.get(record.id());
    if (ranks != null && ranks.endpoints.remove(record.endpoint()) && ranks.endpoints.isEmpty()) {
      workers.remove(record.id());
      ranks.paces.forEach(Pace::retire);
    }
  }

  /**
   * Returns the pace of a rank; null when its worker is gone, or is not known to have that rank.
   */
  public @Nullable Pace pace(InstanceId worker, int rank) {
    var ranks = workers.get(worker);
    return ranks == null || rank < ranks.first || rank - ranks.first >= ranks.paces.size()
        ? null
        : ranks.paces.get(rank - ranks.first);
  }

  /** Stops following. Idempotent. */
  @Override
  public synchronized void close() {
    if (watch != null) {
      watch.close();
      watch = null;
    }
  }
}
