package io.dynamo.router.endpoint;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A subscription to the load reports of an endpoint, opened when they are first wanted.
 * Thread-safe.
 */
final class ReportSubscription implements AutoCloseable {
  private final Supplier<Runnable> intake;
  private @Nullable Runnable open; // guarded by this
  private boolean closed; // guarded by this

  ReportSubscription(Supplier<Runnable> intake) {
    this.intake = intake;
  }

  /** Opens the subscription. Idempotent; does nothing once closed. */
  synchronized void want() {
    if (open == null && !closed) {
      open = intake.get();
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    var listening = open;
    open = null;
    if (listening != null) {
      listening.run();
    }
  }
}
