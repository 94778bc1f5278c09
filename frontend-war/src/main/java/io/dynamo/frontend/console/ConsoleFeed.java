package io.dynamo.frontend.console;

import io.dynamo.error.FailureShape;
import io.dynamo.json.Json;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Samples the server once per period while at least one page listens, and gives the newest sample
 * to all listeners as a server-sent event. A listener that reads slowly misses samples and delays
 * nobody. Safe for concurrent use.
 */
public final class ConsoleFeed implements AutoCloseable {
  /** Takes samples, on one thread; closed when no page listens any more. */
  interface Sampler extends AutoCloseable {
    Map<String, @Nullable Object> sample();

    @Override
    void close();
  }

  /** The greatest number of pages that listen at the same time. */
  static final int MOST_LISTENERS = 32;

  private static final System.Logger LOG = System.getLogger(ConsoleFeed.class.getName());
  private static final int HISTORY = 240; // samples whose totals are kept
  private static final long PATIENCE_NANOS =
      TimeUnit.SECONDS.toNanos(30); // without a sample, after which a listener gives up
  private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Executor threads;
  private final Supplier<? extends Sampler> samplers;
  private final long periodNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Map<String, @Nullable Object>> history =
      new ArrayDeque<>(); // oldest first; guarded by lock, as is the rest
  private byte[] newest = {};
  private long number; // of the newest sample
  private int listeners;
  private @Nullable Run run; // that samples now
  private boolean closed;

  /** One thread's time of sampling, with the number of the last sample before it. */
  private static final class Run {
    private final long before;

    Run(long before) {
      this.before = before;
    }
  }

  /**
   * @param threads runs the sampling thread
   * @param samplers makes a sampler each time that sampling starts
   */
  ConsoleFeed(Executor threads, Supplier<? extends Sampler> samplers) {
    this(threads, samplers, PERIOD_NANOS);
  }

  ConsoleFeed(Executor threads, Supplier<? extends Sampler> samplers, long periodNanos) {
    this.threads = threads;
    this.samplers = samplers;
    this.periodNanos = periodNanos;
  }

  /** One open page. Used by one thread. */
  final class Listener implements AutoCloseable {
    private long seen;
    private boolean greeted;
    private boolean left;

    /**
     * @param seen number of the last sample that it does not want
     */
    private Listener(long seen) {
      this.seen = seen;
    }

    /**
     * Waits for the next event: first the history, then each time the newest sample.
     *
     * @return null when the feed is closed, or no sample comes
     */
    byte @Nullable [] next() throws InterruptedException {
      lock.lock();
      try {
        if (!greeted) {
          greeted = true;
          return historyEvent();
        }
        long patience = PATIENCE_NANOS;
        while (!closed && run != null && number == seen && patience > 0) {
          patience = changed.awaitNanos(patience);
        }
        if (closed || run == null || number == seen) {
          return null;
        }
        seen = number;
        return newest;
      } finally {
        lock.unlock();
      }
    }

    /** Leaves. Idempotent. */
    @Override
    public void close() {
      lock.lock();
      try {
        if (!left) {
          left = true;
          listeners--;
          changed.signalAll();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Opens a listener, and starts sampling with the first one.
   *
   * @return null when too many pages listen already, or when the feed is closed
   */
  @Nullable Listener open() {
    lock.lock();
    try {
      if (closed || listeners == MOST_LISTENERS) {
        return null;
      }
      if (run == null) {
        var next = new Run(number);
        threads.execute(() -> sample(next));
        run = next;
      }
      listeners++;
      return new Listener(run.before);
    } finally {
      lock.unlock();
    }
  }

  private void sample(Run own) {
    try (var sampler = samplers.get()) {
      long due = System.nanoTime();
      while (awaitTurn(own, due)) {
        publish(sampler.sample());
        due = Math.max(due + periodNanos, System.nanoTime() + periodNanos / 2); // late ones rest
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.log(
          Level.ERROR,
          "the console's figures could not be read; its pages are closed and ask again",
          FailureShape.of(e));
    } finally {
      lock.lock();
      try {
        stop(own);
      } finally {
        lock.unlock();
      }
    }
  }

  /** Waits until {@code due}. Returns false when there is nobody to sample for. */
  private boolean awaitTurn(Run own, long due) throws InterruptedException {
    lock.lock();
    try {
      while (!closed && listeners > 0) {
        long left = due - System.nanoTime();
        if (left <= 0) {
          return true;
        }
        var _ = changed.awaitNanos(left);
      }
      stop(own); // under the same lock: a page that comes now starts another run
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Ends a run, unless it has ended. Called with the lock. */
  private void stop(Run own) {
    if (run == own) {
      run = null;
      history.clear();
      changed.signalAll();
    }
  }

  private void publish(Map<String, @Nullable Object> sample) {
    var event = event("sample", sample);
    lock.lock();
    try {
      var totals = new LinkedHashMap<String, @Nullable Object>();
      totals.put("at", sample.get("at"));
      if (sample.get("totals") instanceof Map<?, ?> figures) {
        figures.forEach((name, value) -> totals.put(String.valueOf(name), value));
      }
      history.addLast(totals);
      if (history.size() > HISTORY) {
        history.removeFirst();
      }
      newest = event;
      number++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the totals of the last samples, a column for each figure. Called with the lock. */
  private byte[] historyEvent() {
    List<String> names = history.isEmpty() ? List.of() : List.copyOf(history.getLast().keySet());
    var rows = new ArrayList<List<@Nullable Object>>();
    for (var totals : history) {
      var row = new ArrayList<@Nullable Object>();
      names.forEach(name -> row.add(totals.get(name)));
      rows.add(row);
    }
    return event("history", Map.of("names", names, "rows", rows));
  }

  private static byte[] event(String name, Map<String, ? extends @Nullable Object> data) {
    var json = new String(Json.write(data), StandardCharsets.UTF_8); // one line
    return ("event: " + name + "\ndata: " + json + "\n\n").getBytes(StandardCharsets.UTF_8);
  }

  /** Ends all listeners and accepts no further ones. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
