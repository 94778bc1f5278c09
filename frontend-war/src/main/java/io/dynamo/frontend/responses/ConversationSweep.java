package io.dynamo.frontend.responses;

import io.dynamo.config.frontend.ConversationBounds;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;

/**
 * Keeps the tables of conversations within their bounds: once a minute, and when much was added
 * meanwhile, it deletes those that were not used for longest, down to a mark below the bounds. Safe
 * for concurrent use.
 */
final class ConversationSweep {
  private static final long REST_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final int MARK_PARTS = 16; // one of them is freed at a bound
  private static final int MOST_ADDED = 64; // conversations between two sweeps

  private final ConversationBounds limits;
  private final Duration maxAge;
  private final InstantSource clock;
  private boolean running; // guarded by this, as all below
  private long nextNanos = System.nanoTime();
  private int added;
  private long addedBytes;

  ConversationSweep(ConversationBounds limits, Duration maxAge, InstantSource clock) {
    this.limits = limits;
    this.maxAge = maxAge;
    this.clock = clock;
  }

  /** The time of use of the oldest conversations that are kept. */
  long oldestMillis() {
    return clock.millis() - maxAge.toMillis();
  }

  /** Counts what was added since the last sweep. */
  synchronized void recordAdded(int conversations, long bytes) {
    added += conversations;
    addedBytes += bytes;
  }

  private synchronized boolean begin() {
    if (running
        || (System.nanoTime() - nextNanos < 0
            && added < MOST_ADDED
            && addedBytes < limits.maxBytes() / MARK_PARTS)) {
      return false;
    }
    running = true;
    added = 0;
    addedBytes = 0;
    nextNanos = System.nanoTime() + REST_NANOS;
    return true;
  }

  private synchronized void end(boolean again) {
    running = false;
    if (again) {
      nextNanos = System.nanoTime();
    }
  }

  /** Deletes some conversations if it is time to and nobody else does. */
  void runIfDue(ConversationTable table) throws SQLException {
    if (!begin()) {
      return;
    }
    boolean again = false;
    try {
      if (!table.isListed() || !table.exists()) {
        return;
      }
      again = table.deleteUnused(oldestMillis());
      var extent = table.extent();
      if (!extent.isWithin(limits.maxConversations(), limits.maxBytes())) {
        long conversations = mark(limits.maxConversations());
        long bytes = mark(limits.maxBytes());
        again |= !table.trim(extent, conversations, bytes).isWithin(conversations, bytes);
      }
    } finally {
      end(again);
    }
  }

  private static long mark(long bound) {
    return bound - bound / MARK_PARTS;
  }
}
