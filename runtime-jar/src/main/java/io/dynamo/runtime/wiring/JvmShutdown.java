package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.SignalAction;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The end of this JVM, delayed until an action has run. Signals run the action and then end the
 * JVM; other ways to end it, of which there is no earlier notice, run it as a shutdown hook beside
 * the server's own.
 */
final class JvmShutdown implements Cancellation.Registration {
  private static final System.Logger LOG = System.getLogger(RuntimeLifecycle.class.getName());

  /** The signals that end a process, with their numbers, of which the exit status is made. */
  private static final Map<String, Integer> SIGNALS = Map.of("HUP", 1, "INT", 2, "TERM", 15);

  private static final int SIGNALLED = 128; // plus the signal's number: the status that shells use

  private final Runnable action;
  private final Thread hook = new Thread(this::run, "dynamo-shutdown");
  private final ClassLoader classes = Thread.currentThread().getContextClassLoader();
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
    var handling = SignalAction.on(signal, () -> end(number));
    if (handling == null) {
      LOG.log(
          Level.INFO, "SIG{0} is not handled here: it closes the port before the drain", signal);
    } else {
      signals.add(handling);
    }
  }

  private void end(int number) {
    Thread.currentThread()
        .setContextClassLoader(classes); // the thread that signals have is the JVM's
    run();
    System.exit(SIGNALLED + number);
  }

  /** Runs the action, or waits for the thread that runs it. */
  private synchronized void run() {
    if (ran) {
      return;
    }
    ran = true;
    try {
      action.run();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "what precedes the end of the process failed; it ends", e);
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
