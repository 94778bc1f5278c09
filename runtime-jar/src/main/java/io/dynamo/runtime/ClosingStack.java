package io.dynamo.runtime;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * Closes parts in the reverse order in which they were opened. A close that hangs or fails is
 * logged and does not prevent the closing of other parts. Confined to one thread at a time.
 */
public final class ClosingStack implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ClosingStack.class.getName());

  private record Entry(String name, AutoCloseable part, Duration patience) {}

  private final Deque<Entry> entries = new ArrayDeque<>();
  private final Duration patience;

  /**
   * @param patience how long one close may take, unless its part sets another limit
   */
  public ClosingStack(Duration patience) {
    this.patience = patience;
  }

  /** Puts {@code part} on the stack and returns it. */
  public <T extends AutoCloseable> T push(String name, T part) {
    return push(name, patience, part);
  }

  /**
   * Puts {@code part} on the stack and returns it.
   *
   * @param patience how long its close may take
   */
  public <T extends AutoCloseable> T push(String name, Duration patience, T part) {
    entries.push(new Entry(name, part, patience));
    return part;
  }

  /**
   * Closes all parts, the last one first, each on a separate thread within its patience.
   * Idempotent.
   */
  @Override
  public void close() {
    boolean interrupted = false;
    for (var entry = entries.poll(); entry != null; entry = entries.poll()) {
      interrupted |= close(entry);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether the wait was interrupted; the close itself then continues. */
  private boolean close(Entry entry) {
    var closing =
        Thread.ofVirtual()
            .name("close-" + entry.name)
            .start(
                () -> {
                  try {
                    entry.part.close();
                  } catch (Exception e) {
                    LOG.log(Level.WARNING, "closing " + entry.name + " failed", e);
                  }
                });
    try {
      if (!closing.join(entry.patience)) {
        LOG.log(
            Level.WARNING,
            "closing {0} takes longer than {1} ms; going on without it",
            entry.name,
            TimeUnit.NANOSECONDS.toMillis(entry.patience.toNanos()));
        closing.interrupt();
      }
      return false;
    } catch (InterruptedException _) {
      return true;
    }
  }
}
