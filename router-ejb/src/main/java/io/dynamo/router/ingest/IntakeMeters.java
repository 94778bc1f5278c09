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
  final Counter gaps;
  final Counter duplicates;
  final Counter unknownWorker;
  final Counter undecodable;
  private final Map<Outcome, Counter> stored;
  private final Map<Outcome, Counter> removed;
  private final Map<Outcome, Counter> cleared;

  IntakeMeters(Metrics metrics) {
    gaps = metrics.counter(RouterMetrics.EVENT_GAPS);
    duplicates = dropped(metrics, "duplicate");
    unknownWorker = dropped(metrics, "unknown_worker");
    undecodable = dropped(metrics, "undecodable");
    stored = applied(metrics, "stored");
    removed = applied(metrics, "removed");
    cleared = applied(metrics, "cleared");
  }

  private static Counter dropped(Metrics metrics, String reason) {
    return metrics.counter(RouterMetrics.EVENTS_DROPPED, new Label("reason", reason));
  }

  private static Map<Outcome, Counter> applied(Metrics metrics, String eventType) {
    var counters = new EnumMap<Outcome, Counter>(Outcome.class);
    for (var outcome : Outcome.values()) {
      counters.put(
          outcome,
          metrics.counter(
              RouterMetrics.EVENTS_APPLIED,
              new Label("event_type", eventType),
              new Label("status", status(outcome))));
    }
    return counters;
  }

  /** Dynamo's words. */
  private static String status(Outcome outcome) {
    return switch (outcome) {
      case OK -> "ok";
      case PARENT_NOT_FOUND -> "parent_block_not_found";
      case BLOCK_NOT_FOUND -> "block_not_found";
      case HASH_COLLISION -> "invalid_block";
    };
  }

  void applied(KvEvent event, Outcome outcome) {
    var counters =
        switch (event) {
          case KvEvent.Stored _ -> stored;
          case KvEvent.Removed _ -> removed;
          case KvEvent.Cleared _ -> cleared;
        };
    Objects.requireNonNull(counters.get(outcome)).increment();
  }
}
