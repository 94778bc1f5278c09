package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.SignalAction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The end of this JVM, delayed until an action has run. Signals run the action and then end the
 * JVM; other ways to end it, of which there is no earlier notice, run it as a shutdown hook beside
 * the server's own.
 */
final class JvmShutdown implements Cancellation.Registration {
  /** What ends a process from outside, with its number, of which the exit status is made. */
  private static final Map<String, Integer> SIGNALS = Map.of("HUP", 1, "INT", 2, "TERM", 15);

  private static final int SIGNALLED = 128; // plus the signal's number: the status that shells use

  private final Runnable action;
  private final Thread hook = new Thread(this::run, "dynamo-shutdown");
  private final List<SignalAction> signals = new ArrayList<>(); // not changed once registered
  private boolean ran; // guarded by this

  private JvmShutdown(Runnable action) {
    this.action = action;
  }

  static Cancellation.Registration register(Runnable action) {
    var shutdown = new JvmShutdown(action);
    try {
      Runtime.getRuntime().addShutdownHook(shutdown.hook);
    } catch (IllegalStateException ending) {
      return () -> {};
    }
    SIGNALS.forEach(shutdown::handle);
    return shutdown;
  }

  private void handle(String signal, int number) {
    var handling =
        SignalAction.on(
            signal,
            () -> {
              try {
                run();
              } finally {
                System.exit(SIGNALLED + number);
              }
            });
    if (handling != null) {
      signals.add(handling);
    }
  }

  /** Runs the action, or waits for the thread that runs it. */
  private synchronized void run() {
    if (!ran) {
      ran = true;
      action.run();
    }
  }

  @Override
  public void close() {
    signals.forEach(SignalAction::close);
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // the hook is running; other threads that stop the same roles wait for it
    }
  }
}
