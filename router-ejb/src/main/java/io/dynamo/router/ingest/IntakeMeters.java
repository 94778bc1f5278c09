package io.dynamo.router.ingest;

import io.dynamo.kv.KvEvent;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.index.KvIndexer.Outcome;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** The counters of event intake, looked up once. */
final class IntakeMeters {
  final Counter unknownWorker;
  final Counter unknownPublisher;
  final Counter replaced;
  final Counter foreign;
  final Counter backlog;
  final Counter undecodable;
  final Counter lowerTier;
  private final Counter restoredBlocks;
  private final Counter restoredRanks;
  private final Counter coldRanks;
  private final Map<CursorIncident, Counter> happenings = new EnumMap<>(CursorIncident.class);
  private final Kind stored;
  private final Kind removed;
  private final Kind cleared;

  /** The counters of one kind of event. */
  private record Kind(Map<Outcome, Counter> applied, Counter unsupported) {}

  IntakeMeters(Metrics metrics) {
    unknownWorker = dropped(metrics, "unknown_worker");
    unknownPublisher = dropped(metrics, "unknown_publisher");
    replaced = dropped(metrics, "replaced_publisher");
    foreign = dropped(metrics, "foreign_rank");
    backlog = dropped(metrics, "backlog");
    undecodable = dropped(metrics, "undecodable");
    lowerTier = dropped(metrics, "lower_tier");
    restoredBlocks = metrics.counter(RouterMetrics.RESTORED_BLOCKS);
    restoredRanks = metrics.counter(RouterMetrics.RESTORED_RANKS, new Label("result", "restored"));
    coldRanks = metrics.counter(RouterMetrics.RESTORED_RANKS, new Label("result", "incomplete"));
    for (var what : CursorIncident.values()) {
      happenings.put(what, counter(metrics, what));
    }
    stored = kind(metrics, "stored");
    removed = kind(metrics, "removed");
    cleared = kind(metrics, "cleared");
  }

  /** Counts a rank with as many blocks as stored events tell; {@link StoredState#UNKNOWN}: cold. */
  void restored(long blocks) {
    if (blocks == StoredState.UNKNOWN) {
      coldRanks.increment();
    } else {
      restoredRanks.increment();
      restoredBlocks.add(blocks);
    }
  }

  private static Counter counter(Metrics metrics, CursorIncident what) {
    return switch (what) {
      case DUPLICATE -> dropped(metrics, "duplicate");
      case NOT_KEPT -> dropped(metrics, "recovery_backlog");
      case FENCED_OFF -> dropped(metrics, "corrupt_source");
      case GAP -> metrics.counter(RouterMetrics.EVENT_GAPS);
      case KEPT -> metrics.counter(RouterMetrics.EVENTS_BUFFERED);
      case GOT_EVENTS -> recovered(metrics, "events");
      case GOT_DUMP -> recovered(metrics, "tree_dump");
      case IN_STEP -> recovered(metrics, "in_step");
      case SUPERSEDED -> recovered(metrics, "superseded");
      case EXHAUSTED -> recovered(metrics, "exhausted");
      case CORRUPT -> recovered(metrics, "corrupt");
    };
  }

  private static Counter dropped(Metrics metrics, String reason) {
    return metrics.counter(RouterMetrics.EVENTS_DROPPED, new Label("reason", reason));
  }

  private static Counter recovered(Metrics metrics, String result) {
    return metrics.counter(RouterMetrics.RECOVERIES, new Label("result", result));
  }

  private static Kind kind(Metrics metrics, String eventType) {
    var counters = new EnumMap<Outcome, Counter>(Outcome.class);
    for (var outcome : Outcome.values()) {
      counters.put(outcome, applied(metrics, eventType, status(outcome)));
    }
    return new Kind(counters, applied(metrics, eventType, "unsupported_residency_domain"));
  }

  private static Counter applied(Metrics metrics, String eventType, String status) {
    return metrics.counter(
        RouterMetrics.EVENTS_APPLIED,
        new Label("event_type", eventType),
        new Label("status", status));
  }

  /** Returns Dynamo's label value for {@code outcome}. */
  private static String status(Outcome outcome) {
    return switch (outcome) {
      case OK -> "ok";
      case PARENT_NOT_FOUND -> "parent_block_not_found";
      case BLOCK_NOT_FOUND -> "block_not_found";
      case HASH_COLLISION -> "invalid_block";
    };
  }

  private Kind of(KvEvent event) {
    return switch (event) {
      case KvEvent.Stored _ -> stored;
      case KvEvent.Removed _ -> removed;
      case KvEvent.Cleared _ -> cleared;
    };
  }

  void applied(KvEvent event, Outcome outcome) {
    Objects.requireNonNull(of(event).applied.get(outcome)).increment();
  }

  void unsupported(KvEvent event) {
    of(event).unsupported.increment();
  }

  void count(CursorIncident what) {
    Objects.requireNonNull(happenings.get(what)).increment();
  }
}
