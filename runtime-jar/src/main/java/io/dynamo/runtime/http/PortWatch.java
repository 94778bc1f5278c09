package io.dynamo.runtime.http;

import io.dynamo.config.key.InvalidSettingsException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the container opens the port: a process that takes it between the check and the
 * opening would leave a server without one. If the address accepts connections while this server
 * has not opened it, another process has taken it. Checks until the port is open or lost; runs on
 * the timer's thread.
 */
final class PortWatch implements AutoCloseable {
  private static final long BETWEEN_LOOKS_SECONDS = 1;

  /**
   * Consecutive checks before a port counts as taken: the container reports a port as open a moment
   * after it accepts connections.
   */
  private static final int LOOKS_IN_A_ROW = 5;

  private final PortAddress address;
  private final BooleanSupplier opened;
  private final BooleanSupplier answers;
  private final Consumer<? super InvalidSettingsException> onTaken;
  private int taken; // consecutive checks so far
  private boolean over;
  private @Nullable Future<?> next;

  /**
   * @param opened whether this server has opened the port
   * @param answers whether any process has
   * @param onTaken called once when another process has
   */
  PortWatch(
      PortAddress address,
      BooleanSupplier opened,
      BooleanSupplier answers,
      Consumer<? super InvalidSettingsException> onTaken) {
    this.address = address;
    this.opened = opened;
    this.answers = answers;
    this.onTaken = onTaken;
  }

  /** Starts checking. */
  AutoCloseable start(ScheduledExecutorService timer) {
    lookLater(timer);
    return this;
  }

  private synchronized void lookLater(ScheduledExecutorService timer) {
    if (!over) {
      next =
          timer.schedule(
              () -> {
                look();
                lookLater(timer);
              },
              BETWEEN_LOOKS_SECONDS,
              TimeUnit.SECONDS);
    }
  }

  synchronized void look() {
    if (over) {
      return;
    }
    if (opened.getAsBoolean()) {
      over = true;
      return;
    }
    taken = answers.getAsBoolean() ? taken + 1 : 0;
    if (taken >= LOOKS_IN_A_ROW) {
      over = true;
      onTaken.accept(address.taken());
    }
  }

  @Override
  public synchronized void close() {
    over = true;
    if (next != null) {
      next.cancel(false);
    }
  }
}
