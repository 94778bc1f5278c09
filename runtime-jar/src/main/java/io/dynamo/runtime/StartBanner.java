package io.dynamo.runtime;

import java.io.PrintStream;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Prints a text on the console once, as soon as there is one and after the server's own lines. Uses
 * standard output, which the server shows at every log level.
 */
public final class StartBanner {
  private static final long FIRST_LOOK_MILLIS = 1000; // the server says last that it is ready
  private static final long LOOK_MILLIS = 250;

  private final Supplier<@Nullable String> text;
  private final PrintStream console;
  private final Future<?> looking;

  /**
   * @param text null as long as there is nothing to print; called on the timer's thread
   */
  public StartBanner(
      Supplier<@Nullable String> text, ScheduledExecutorService timer, PrintStream console) {
    this.text = text;
    this.console = console;
    this.looking =
        timer.scheduleWithFixedDelay(
            this::look, FIRST_LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    var ready = text.get();
    if (ready != null) {
      console.println(ready);
      looking.cancel(false);
    }
  }

  /** Prints nothing from now on. */
  public void cancel() {
    looking.cancel(false);
  }
}
