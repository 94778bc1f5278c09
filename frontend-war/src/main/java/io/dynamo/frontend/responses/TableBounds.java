package io.dynamo.frontend.responses;

import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;

/**
 * Keeps the table of responses within its bounds, in steps of a few hundred rows. Once a minute it
 * deletes what is too old and counts what is left; between these sweeps it adds what is written. At
 * a bound it deletes the oldest, down to a mark below it, so that not every write deletes. For one
 * thread at a time.
 */
final class TableBounds {
  private static final long SWEEP_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final int MARK_PARTS = 16; // one of them is freed at a bound

  /** How long responses are kept, and how many. */
  record Retention(Duration maxAge, long maxResponses, long maxBytes) {}

  private enum Phase {
    AT_REST,
    EXPIRING,
    COUNTING,
    TRIMMING
  }

  private final Retention retention;
  private final InstantSource clock;
  private Phase phase = Phase.AT_REST;
  private ResponseTable.Extent extent = new ResponseTable.Extent(0, 0); // about
  private long sweepNanos = System.nanoTime(); // when the next is due
  private long trimNanos = sweepNanos; // not before, after a failure

  TableBounds(Retention retention, InstantSource clock) {
    this.retention = retention;
    this.clock = clock;
  }

  /** The time of the oldest responses that are kept. */
  long oldestMillis() {
    return clock.millis() - retention.maxAge().toMillis();
  }

  /** Counts a response that was written. */
  void add(StoredResponse written) {
    extent = extent.with(written);
  }

  /** The time until the next sweep, at most; zero or less when there is something to do. */
  long restNanos() {
    return isDue() ? 0 : sweepNanos - System.nanoTime();
  }

  /** Whether {@link #step} has something to do. */
  boolean isDue() {
    long now = System.nanoTime();
    return phase != Phase.AT_REST
        || now - sweepNanos >= 0
        || (now - trimNanos >= 0 && !isWithinBounds());
  }

  private boolean isWithinBounds() {
    return extent.isWithin(retention.maxResponses(), retention.maxBytes());
  }

  /** Runs part of the due deletions. */
  void step(ResponseTable table) throws SQLException {
    switch (phase) {
      case AT_REST -> {
        boolean sweeps = System.nanoTime() - sweepNanos >= 0;
        phase = sweeps ? Phase.EXPIRING : isWithinBounds() ? Phase.AT_REST : Phase.TRIMMING;
      }
      case EXPIRING -> {
        if (!table.deleteBefore(oldestMillis())) {
          phase = Phase.COUNTING;
        }
      }
      case COUNTING -> {
        extent = table.extent();
        sweepNanos = System.nanoTime() + SWEEP_NANOS;
        phase = isWithinBounds() ? Phase.AT_REST : Phase.TRIMMING;
      }
      case TRIMMING -> {
        long rows = lowMark(retention.maxResponses());
        long bytes = lowMark(retention.maxBytes());
        extent = table.trim(extent, rows, bytes);
        phase = extent.isWithin(rows, bytes) ? Phase.AT_REST : Phase.TRIMMING;
      }
    }
  }

  private static long lowMark(long most) {
    return most - most / MARK_PARTS;
  }

  /** Delays the due deletions by a minute, after a step failed. */
  void postpone() {
    phase = Phase.AT_REST;
    sweepNanos = System.nanoTime() + SWEEP_NANOS;
    trimNanos = sweepNanos;
  }
}
