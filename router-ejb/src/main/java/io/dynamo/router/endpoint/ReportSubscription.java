package io.dynamo.router.endpoint;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Load reports of an endpoint, listened to from when somebody wants them. Thread-safe. */
final class ReportSubscription implements AutoCloseable {
  private final Supplier<Runnable> intake;
  private @Nullable Runnable open; // guarded by this
  private boolean closed; // guarded by this

  ReportSubscription(Supplier<Runnable> intake) {
    this.intake = intake;
  }

  /** Listens from now on. Idempotent; does nothing once closed. */
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
