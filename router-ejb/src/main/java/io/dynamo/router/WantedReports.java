package io.dynamo.router;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Load reports of an endpoint, listened to from when somebody wants them. Thread-safe. */
final class WantedReports implements AutoCloseable {
  private final Supplier<AutoCloseable> intake;
  private @Nullable AutoCloseable open; // guarded by this
  private boolean closed; // guarded by this

  WantedReports(Supplier<AutoCloseable> intake) {
    this.intake = intake;
  }

  /** Listens from now on. Idempotent; does nothing once closed. */
  synchronized void want() {
    if (open == null && !closed) {
      open = intake.get();
    }
  }

  @Override
  public synchronized void close() throws Exception {
    closed = true;
    var listening = open;
    open = null;
    if (listening != null) {
      listening.close();
    }
  }
}
