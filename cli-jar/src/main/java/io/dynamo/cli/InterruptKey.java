package io.dynamo.cli;

import io.dynamo.concurrent.SignalAction;
import org.jspecify.annotations.Nullable;

/**
 * Ctrl-C as the end of what a thread does: while open, it interrupts the thread that opened it,
 * where it otherwise ends the process. A JVM that leaves signals to others ends as before.
 */
final class InterruptKey implements AutoCloseable {
  private final Thread thread = Thread.currentThread();
  private final @Nullable SignalAction action;
  private boolean pressed; // guarded by this, as the next
  private boolean isClosed;

  private InterruptKey() {
    action = SignalAction.on("INT", this::press);
  }

  static InterruptKey open() {
    return new InterruptKey();
  }

  /** Whether it was pressed since it was opened. */
  synchronized boolean isPressed() {
    return pressed;
  }

  /** Gives Ctrl-C back, and forgets an interruption of this thread by it. */
  @Override
  public void close() {
    if (action != null) {
      action.close();
    }
    synchronized (this) { // signals are handled by threads of their own, which may come later
      isClosed = true;
      if (pressed) {
        Thread.interrupted();
      }
    }
  }

  private synchronized void press() {
    if (!isClosed) {
      pressed = true;
      thread.interrupt();
    }
  }
}
