package io.dynamo.router.ingest;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventScope;
import io.dynamo.discovery.EventSource;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEventSource;
import io.dynamo.metrics.Metrics;
import io.dynamo.router.index.KvIndexer;
import io.dynamo.runtime.EndpointInstances;
import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.function.LongSupplier;

/**
 * Keeps an index up to date with the KV events of one endpoint's workers, from its construction
 * until it is closed. Safe for concurrent use.
 */
public final class EndpointEvents implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EndpointEvents.class.getName());

  private final EventSubject subject;
  private final EndpointInstances instances;
  private final EventIntake intake;
  private final Object order = new Object(); // of the live sets that reach intake
  private final Cancellation.Registration workers;
  private final Runnable events; // ends them
  private final Discovery.Handle sources;

  public EndpointEvents(
      EndpointId endpoint,
      EndpointInstances instances,
      KvIndexer index,
      EventFeed feed,
      Metrics metrics,
      LongSupplier nanoClock) {
    this.subject = new EventSubject(endpoint, KvEventSource.TOPIC);
    this.instances = instances;
    this.intake =
        new EventIntake(
            index,
            feed.decoder(),
            feed.recoveries(),
            feed.alarm(),
            feed.executor(),
            nanoClock,
            metrics);
    // Sources last: a source's earlier events are then queried, and its later ones received.
    this.workers = instances.onChange(this::passWorkers);
    this.events = follow(feed, metrics);
    this.sources = feed.discovery().watch(EventSource.class, this::onSource);
  }

  /** Events come from what the plane stores, where it does. */
  private Runnable follow(EventFeed feed, Metrics metrics) {
    if (feed.plane() instanceof EventHistory history && history.stores(subject)) {
      var stored =
          new StoredIntake(
              history,
              subject,
              intake,
              new MirrorFormat(feed.encoder(), feed.decoder()),
              feed.alarm(),
              feed.executor(),
              metrics);
      intake.awaitStored();
      stored.open();
      return stored::close;
    }
    return feed.plane().subscribe(subject, intake)::close;
  }

  private void passWorkers() {
    synchronized (order) {
      var ids = new HashSet<InstanceId>();
      instances.live().forEach(instance -> ids.add(instance.id()));
      intake.workers(ids);
    }
  }

  private void onSource(DiscoveryEvent<EventSource> event) {
    switch (event) {
      case DiscoveryEvent.Added<EventSource>(var record) when isOurs(record) -> found(record);
      case DiscoveryEvent.Lost<EventSource>(var record) when isOurs(record) ->
          intake.sourceLost(record.publisherId());
      case DiscoveryEvent.Added<EventSource> _, DiscoveryEvent.Lost<EventSource> _ -> {}
    }
  }

  private boolean isOurs(EventSource record) {
    EventScope scope = record.scope();
    return scope.equals(subject.scope()) && record.topic().equals(subject.topic());
  }

  private void found(EventSource record) {
    try {
      intake.sourceFound(KvEventSource.of(record));
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.WARNING,
          () -> "the source of publisher %x is not understood".formatted(record.publisherId()),
          e);
    }
  }

  @Override
  public void close() {
    sources.close();
    events.run();
    workers.close();
    intake.close();
  }
}
