package io.dynamo.router.session;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.BatchPublisher;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.SessionBinding;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.RouteHints;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.wire.event.EventEnvelope;
import io.dynamo.wire.kv.SessionBindingCodec;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * Replicates session bindings among the routers of one endpoint by events, which may be lost: each
 * router publishes where it binds a session and when the session is used, and of two bindings that
 * differ the later one wins. A session of a worker that is gone is unbound. Safe for concurrent
 * use.
 */
public final class SessionReplicas implements AutoCloseable {
  /** The greatest number of bindings that wait to be sent; Dynamo's bound. */
  private static final int WAITING = 4096;

  private static final int MAX_RANKS = 1024; // ranks accepted per worker

  private final InstanceId self;
  private final SessionTable sessions;
  private final EndpointInstances instances;
  private final BatchPublisher<SessionBinding> news;
  private final Metrics.Counter undecodable;
  private final Metrics.Counter unknownWorker;
  private final Metrics.Counter stale;
  private final Metrics.Counter full;
  private final Cancellation.Registration workers;
  private final EventPlane.Subscription subscription;
  private Set<InstanceId> live = Set.of(); // guarded by this

  /**
   * Subscribes to the bindings of the other routers and starts to publish those of {@code
   * sessions}.
   *
   * @param self the id under which this router publishes
   * @param executor encodes and sends the bindings
   */
  public SessionReplicas(
      EndpointId endpoint,
      InstanceId self,
      SessionTable sessions,
      EndpointInstances instances,
      EventPlane plane,
      Executor executor,
      Metrics metrics) {
    var subject = new EventSubject(endpoint, SessionBinding.TOPIC);
    this.self = self;
    this.sessions = sessions;
    this.instances = instances;
    this.undecodable = dropped(metrics, "undecodable");
    this.unknownWorker = dropped(metrics, "unknown_worker");
    this.stale = dropped(metrics, "stale");
    this.full = dropped(metrics, "full");
    this.news =
        new BatchPublisher<>(
            plane,
            subject,
            WAITING,
            1,
            one -> SessionBindingCodec.encode(one.getFirst()),
            executor,
            dropped(metrics, "unsent"));
    sessions.setListener(news::add);
    this.workers = instances.onChange(this::matchWorkers);
    this.subscription = plane.subscribe(subject, this::accept);
  }

  private static Metrics.Counter dropped(Metrics metrics, String reason) {
    return metrics.counter(RouterMetrics.SESSION_EVENTS_DROPPED, new Label("reason", reason));
  }

  private synchronized void matchWorkers() {
    var ids = new HashSet<InstanceId>();
    instances.live().forEach(instance -> ids.add(instance.id()));
    live = ids;
    sessions.keep(ids);
  }

  private void accept(EventEnvelope envelope) {
    SessionBinding binding;
    try {
      binding = SessionBindingCodec.decode(envelope.payload());
    } catch (IllegalArgumentException none) {
      undecodable.increment();
      return;
    }
    var rank = binding.rank();
    if (binding.sessionId().isEmpty()
        || binding.sessionId().getBytes(StandardCharsets.UTF_8).length
            > RouteHints.MAX_SESSION_ID_BYTES
        || (rank != null && (rank < 0 || rank >= MAX_RANKS))) {
      undecodable.increment();
    } else if (!binding.writer().equals(self)) {
      learn(binding);
    }
  }

  private synchronized void learn(SessionBinding binding) {
    if (!live.contains(binding.worker())) {
      unknownWorker.increment();
      return;
    }
    switch (sessions.learn(binding)) {
      case STALE -> stale.increment();
      case FULL -> full.increment();
      case BOUND, REFRESHED, MOVED -> {}
    }
  }

  /** Stops receiving and publishing. Idempotent. */
  @Override
  public void close() {
    subscription.close();
    workers.close();
    news.close();
  }
}
