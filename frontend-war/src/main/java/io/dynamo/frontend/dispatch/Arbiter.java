package io.dynamo.frontend.dispatch;

import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Transfers the demand of one subscriber from leg to leg: items requested and not yet delivered are
 * requested from the next leg. Safe for concurrent use.
 */
final class Arbiter {
  private Flow.@Nullable Subscription current; // guarded by this
  private long outstanding; // guarded by this; items requested and not delivered
  private boolean cancelled; // guarded by this

  /** Adds demand. */
  void request(long count) {
    Flow.Subscription to;
    synchronized (this) {
      outstanding = outstanding + count < 0 ? Long.MAX_VALUE : outstanding + count;
      to = current;
    }
    if (to != null) {
      to.request(count);
    }
  }

  /**
   * Makes {@code next} the current leg's subscription, and requests all outstanding items from it.
   */
  void switchTo(Flow.Subscription next) {
    long owed;
    boolean late;
    synchronized (this) {
      current = next;
      owed = outstanding;
      late = cancelled;
    }
    if (late) {
      next.cancel();
    } else if (owed > 0) {
      next.request(owed);
    }
  }

  /** Notes the delivery of one item. */
  synchronized void delivered() {
    if (outstanding != Long.MAX_VALUE) {
      outstanding--;
    }
  }

  /** Ends the current leg: demand is kept for the next. */
  synchronized void release() {
    current = null;
  }

  /** Cancels the current leg and every later one. */
  void cancel() {
    Flow.Subscription to;
    synchronized (this) {
      cancelled = true;
      to = current;
      current = null;
    }
    if (to != null) {
      to.cancel();
    }
  }
}
