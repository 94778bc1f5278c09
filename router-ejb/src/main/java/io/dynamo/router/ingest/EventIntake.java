package io.dynamo.router.ingest;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventEnvelope;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.router.index.KvIndexer;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Applies the KV events of one endpoint's workers to an index, each rank's in the order of their
 * ids. Called by the event plane's thread and by discovery's; a lock of its own keeps an event from
 * slipping in behind the farewell of its worker. Matching on the index does not take that lock.
 *
 * <p>The first id seen of a rank is where its account begins. An id that was passed is a duplicate.
 * A gap means that events are lost: what the rank holds is not known any more, so its blocks are
 * forgotten and its account begins anew.
 */
public final class EventIntake {
  /** The event plane's topic, in the scope of the workers' endpoint. */
  public static final String TOPIC = "kv-events";

  private static final System.Logger log = System.getLogger(EventIntake.class.getName());

  private final KvIndexer index;
  private final Function<byte[], List<RankEvent>> decoder;
  private final IntakeMeters meters;
  private final Object lock = new Object();
  private final Map<WorkerRank, Long> cursors = new HashMap<>(); // last id applied; by lock
  private Set<InstanceId> live = Set.of(); // guarded by lock
  private boolean decodes = true; // guarded by lock; logged when it changes

  /**
   * @param decoder throws an unchecked exception for bytes that are no KV events
   */
  public EventIntake(KvIndexer index, Function<byte[], List<RankEvent>> decoder, Metrics metrics) {
    this.index = index;
    this.decoder = decoder;
    this.meters = new IntakeMeters(metrics);
  }

  /** Takes the events of one message. A message that cannot be read is counted and dropped. */
  public void accept(EventEnvelope envelope) {
    List<RankEvent> events;
    try {
      events = decoder.apply(envelope.payload());
    } catch (RuntimeException e) {
      meters.undecodable.increment();
      undecodable(envelope, e);
      return;
    }
    synchronized (lock) {
      decodes = true;
      for (var event : events) {
        take(event.rank(), event.event());
      }
    }
  }

  private void undecodable(EventEnvelope envelope, RuntimeException cause) {
    boolean first;
    synchronized (lock) {
      first = decodes;
      decodes = false;
    }
    log.log(
        first ? Level.WARNING : Level.DEBUG,
        () ->
            "dropped %d bytes from publisher %x on %s that are no KV events"
                .formatted(envelope.payload().length, envelope.publisherId(), envelope.topic()),
        cause);
  }

  /**
   * Tells which workers there are from now on. Those that are gone are forgotten; events of others
   * than these are dropped.
   */
  public void workers(Set<InstanceId> now) {
    synchronized (lock) {
      for (var worker : live) {
        if (!now.contains(worker)) {
          cursors.keySet().removeIf(rank -> rank.worker().equals(worker));
          index.forget(worker);
        }
      }
      live = Set.copyOf(now);
    }
  }

  private void take(WorkerRank rank, KvEvent event) {
    if (!live.contains(rank.worker())) {
      meters.unknownWorker.increment();
      return;
    }
    var cursor = cursors.get(rank);
    if (cursor != null) {
      if (Long.compareUnsigned(event.id(), cursor) <= 0) {
        meters.duplicates.increment();
        return;
      }
      if (event.id() != cursor + 1) {
        meters.gaps.increment();
        log.log(
            Level.DEBUG,
            () ->
                "events after %d of rank %s are lost, up to %d"
                    .formatted(cursor, rank, event.id()));
        index.apply(rank, new KvEvent.Cleared(event.id() - 1));
      }
    }
    cursors.put(rank, event.id());
    meters.applied(event, index.apply(rank, event));
  }
}
