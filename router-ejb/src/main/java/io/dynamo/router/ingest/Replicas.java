package io.dynamo.router.ingest;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.BatchPublisher;
import io.dynamo.event.EventListener;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.PrefillCompleted;
import io.dynamo.kv.SequenceAdded;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.SequenceFreed;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.Booking;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.token.BlockHashes;
import io.dynamo.wire.event.EventEnvelope;
import io.dynamo.wire.kv.SequenceEventCodec;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges placed requests among the routers of one endpoint, and receives from its workers the
 * event that a first token is out, so that load placed by other routers counts here, too. Safe for
 * concurrent use.
 *
 * <p>Events may be lost. The load placed by another router is released when that router publishes
 * its end, when the router's publisher or the worker goes, and after the expiry of {@link
 * ActiveSequences} at the latest.
 */
public final class Replicas implements AutoCloseable {
  /** The greatest number of requests of other routers that are counted; more are dropped. */
  static final int MAX_OTHERS = 65_536;

  /** The greatest number of prompt blocks of all these requests together. */
  private static final long MAX_OTHER_BLOCKS = 1L << 22;

  /**
   * The greatest number of events that wait to be sent; this and the number of events in one
   * message are Dynamo's bounds.
   */
  private static final int WAITING = 100_000;

  private static final int BATCH = 256;

  private final InstanceId self;
  private final ActiveSequences load;
  private final EndpointInstances instances;
  private final @Nullable BatchPublisher<SequenceEvent> news; // null when nothing is published
  private final Map<String, Booking> own = new ConcurrentHashMap<>(); // by request id
  private volatile int sweepAt = MAX_OTHERS;
  private final OtherSequences others; // guarded by this
  private final Metrics.Counter applied;
  private final Metrics.Counter undecodable;
  private final Metrics.Counter unknownWorker;
  private final Metrics.Counter full;
  private final Cancellation.Registration workers;
  private final EventPlane.Subscription subscription;
  private Set<InstanceId> live = Set.of(); // guarded by this

  /**
   * Subscribes to the events of the endpoint's routers and workers.
   *
   * @param self the id under which this router publishes
   * @param tell whether placements of this router are published; those of others are received
   *     anyway
   * @param executor encodes and sends the events
   */
  public Replicas(
      EndpointId endpoint,
      InstanceId self,
      boolean tell,
      ActiveSequences load,
      EndpointInstances instances,
      EventPlane plane,
      Executor executor,
      Metrics metrics) {
    var subject = new EventSubject(endpoint, SequenceEvent.TOPIC);
    this.self = self;
    this.load = load;
    this.instances = instances;
    this.others = new OtherSequences(MAX_OTHERS, MAX_OTHER_BLOCKS);
    this.applied = metrics.counter(RouterMetrics.SEQUENCE_EVENTS_APPLIED);
    this.undecodable = dropped(metrics, "undecodable");
    this.unknownWorker = dropped(metrics, "unknown_worker");
    this.full = dropped(metrics, "full");
    this.news =
        tell
            ? new BatchPublisher<>(
                plane,
                subject,
                WAITING,
                BATCH,
                SequenceEventCodec::encode,
                executor,
                dropped(metrics, "unsent"))
            : null;
    this.workers = instances.onChange(this::matchWorkers);
    this.subscription = plane.subscribe(subject, new Ear());
  }

  private static Metrics.Counter dropped(Metrics metrics, String reason) {
    return metrics.counter(RouterMetrics.SEQUENCE_EVENTS_DROPPED, new Label("reason", reason));
  }

  /**
   * Takes over {@code booking}, which this router has made, and publishes it to the other routers.
   */
  public Placement placed(
      String requestId,
      WorkerRank rank,
      BlockHashes prompt,
      long tokensToPrefill,
      Booking booking) {
    own.put(requestId, booking);
    if (own.size() > sweepAt) {
      own.values().removeIf(Booking::isFreed); // leaked and expired
      sweepAt = Math.max(MAX_OTHERS, 2 * own.size());
    }
    if (news != null) {
      news.add(new SequenceAdded(requestId, rank, self, prompt, tokensToPrefill));
    }
    return new Own(requestId, rank, booking);
  }

  private final class Own implements Placement {
    private final String requestId;
    private final WorkerRank rank;
    private final Booking booking;
    private final AtomicBoolean prefilled = new AtomicBoolean();
    private final AtomicBoolean freed = new AtomicBoolean();

    Own(String requestId, WorkerRank rank, Booking booking) {
      this.requestId = requestId;
      this.rank = rank;
      this.booking = booking;
    }

    @Override
    public void prefillDone() {
      booking.prefillDone();
      if (!prefilled.getAndSet(true) && !freed.get() && news != null) {
        news.add(new PrefillCompleted(requestId, rank, self));
      }
    }

    @Override
    public void generated(int tokens) {
      booking.generated(tokens);
    }

    @Override
    public void close() {
      if (freed.getAndSet(true)) {
        return;
      }
      booking.close();
      own.remove(requestId, booking); // a later leg of the request may be booked under this id
      if (news != null) {
        news.add(new SequenceFreed(requestId, rank, self));
      }
    }
  }

  private final class Ear implements EventListener {
    @Override
    public void accept(EventEnvelope envelope) {
      List<SequenceEvent> events;
      try {
        events = SequenceEventCodec.decode(envelope.payload());
      } catch (IllegalArgumentException none) {
        undecodable.increment();
        return;
      }
      events.forEach(event -> heard(envelope.publisherId(), event));
    }

    @Override
    public void publisherFound(long publisherId) {}

    @Override
    public void publisherLost(long publisherId) {
      synchronized (Replicas.this) {
        others.freePublisher(publisherId);
      }
    }
  }

  private void heard(long publisherId, SequenceEvent event) {
    if (event instanceof PrefillCompleted && event.isFromWorker()) {
      var mine = own.get(event.requestId());
      if (mine != null) {
        mine.prefillDone();
        applied.increment();
        return;
      }
    } else if (event.teller().equals(self)) {
      return;
    }
    synchronized (this) {
      switch (event) {
        case SequenceAdded added -> add(publisherId, added);
        case PrefillCompleted done -> count(others.prefilled(done));
        case SequenceFreed freed -> count(others.free(freed));
      }
    }
  }

  private void count(boolean known) {
    if (known) {
      applied.increment();
    }
  }

  private void add(long publisherId, SequenceAdded added) { // holds this
    int rank = added.rank().rank();
    if (rank < 0 || rank >= LoadIntake.MAX_RANKS) {
      undecodable.increment();
    } else if (!live.contains(added.rank().worker())) {
      unknownWorker.increment();
    } else if (others.add(publisherId, added, load)) {
      applied.increment();
    } else {
      full.increment();
    }
  }

  private synchronized void matchWorkers() {
    var ids = new HashSet<InstanceId>();
    instances.live().forEach(instance -> ids.add(instance.id()));
    live = ids;
    others.keepWorkers(ids);
  }

  /** Stops receiving and publishing; the load that others have placed is released. Idempotent. */
  @Override
  public void close() {
    subscription.close();
    workers.close();
    if (news != null) {
      news.close();
    }
    synchronized (this) {
      live = Set.of();
      others.keepWorkers(live);
    }
  }
}
