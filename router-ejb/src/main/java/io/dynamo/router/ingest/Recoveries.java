package io.dynamo.router.ingest;

import io.dynamo.concurrent.Alarms;
import io.dynamo.discovery.Instance;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Queries workers for lost events until they answer or too many attempts have failed. Only a
 * bounded number of attempts run at once; the others wait in order of arrival. Safe for concurrent
 * use; never blocks its caller.
 */
public final class Recoveries {
  /** The number of attempts after the first. */
  static final int RETRIES = 8;

  /** The pause before the first retry; doubles with each retry. */
  static final Duration BACKOFF = Duration.ofMillis(200);

  /** The longest duration of an attempt. */
  static final Duration ATTEMPT = Duration.ofSeconds(30);

  /** The greatest number of attempts that run at once, of all workers. */
  static final int CONCURRENT = 16;

  /**
   * The range of the random delay of first attempts, which spreads those of routers that discover
   * the same worker at once.
   */
  static final Duration FIRST_JITTER = Duration.ofMillis(3);

  private static final System.Logger LOG = System.getLogger(Recoveries.class.getName());

  /** Receives the outcome of a recovery, on any thread; must not block. */
  interface Listener {
    void replied(KvReply reply);

    void exhausted();
  }

  /** A running recovery. */
  interface Ticket {
    /**
     * Cancels the recovery. Its listener is not called any more, except for a call already in
     * progress.
     */
    void cancel();
  }

  private final KvQueries queries;
  private final Alarms alarm;
  private final Executor executor;
  private final DoubleSupplier random;
  private final Object lock = new Object();
  private final Queue<Recovery> waiting = new ArrayDeque<>(); // guarded by lock
  private int running; // guarded by lock

  /**
   * Creates a scheduler of recoveries.
   *
   * @param executor makes the attempts; sending a query may take it a moment
   * @param random uniform in [0, 1); safe for concurrent use
   */
  public Recoveries(KvQueries queries, Alarms alarm, Executor executor, DoubleSupplier random) {
    this.queries = queries;
    this.alarm = alarm;
    this.executor = executor;
    this.random = random;
  }

  Ticket ask(Instance target, KvQuery query, Listener listener) {
    var recovery = new Recovery(target, query, listener);
    recovery.pause(scaled(FIRST_JITTER, random.getAsDouble()));
    return recovery;
  }

  private static Duration scaled(Duration duration, double by) {
    return Duration.ofNanos((long) (duration.toNanos() * by));
  }

  private void pump() {
    while (true) {
      Recovery next;
      synchronized (lock) {
        if (running == CONCURRENT || waiting.isEmpty()) {
          return;
        }
        next = waiting.remove();
        running++;
        next.running = true;
      }
      try {
        executor.execute(next::attempt);
      } catch (RejectedExecutionException stopped) {
        next.cancel();
      }
    }
  }

  /** One recovery; its fields are guarded by the lock. */
  private final class Recovery implements Ticket {
    final Instance target;
    final KvQuery query;
    final Listener listener;
    int failures;
    boolean running; // counted in Recoveries.running
    boolean ended;
    Alarms.@Nullable Alarm set; // ends the pause, or the attempt when it takes too long
    @Nullable CompletableFuture<KvReply> reply;

    Recovery(Instance target, KvQuery query, Listener listener) {
      this.target = target;
      this.query = query;
      this.listener = listener;
    }

    void pause(Duration time) {
      var alarmed = alarm.after(time, this::enqueue);
      synchronized (lock) {
        if (!ended && !running && !waiting.contains(this)) {
          set = alarmed;
          return;
        }
      }
      alarmed.cancel();
    }

    private void enqueue() {
      synchronized (lock) {
        if (ended) {
          return;
        }
        set = null;
        waiting.add(this);
      }
      pump();
    }

    void attempt() {
      CompletableFuture<KvReply> asked;
      try {
        asked = queries.ask(target, query);
      } catch (RuntimeException | Error e) {
        asked = CompletableFuture.failedFuture(e);
      }
      var mine = asked;
      var patience = alarm.after(ATTEMPT, () -> mine.cancel(false));
      boolean late;
      synchronized (lock) {
        late = ended;
        if (!late) {
          reply = mine;
          set = patience;
        }
      }
      if (late) {
        patience.cancel();
        mine.cancel(false);
        return;
      }
      var _ =
          mine.whenComplete(
              (answer, failure) -> {
                patience.cancel();
                finished(answer, failure);
              });
    }

    private void finished(@Nullable KvReply answer, @Nullable Throwable failure) {
      boolean useful = answer != null && !isRefusal(answer);
      boolean again = !useful;
      Duration backoff = Duration.ZERO;
      synchronized (lock) {
        if (ended) {
          return;
        }
        running = false;
        Recoveries.this.running--;
        reply = null;
        set = null;
        if (again && failures == RETRIES) {
          again = false;
        } else if (again) {
          backoff = BACKOFF.multipliedBy(1L << failures++);
        }
        ended = !again;
      }
      if (useful && answer != null) {
        listener.replied(answer);
      } else {
        LOG.log(
            again ? Level.DEBUG : Level.WARNING,
            "instance {0} did not tell the KV events of rank {1}: {2}",
            target.id(),
            query.rank(),
            answer == null ? failure : answer);
        if (again) {
          pause(scaled(backoff, 0.75 + 0.5 * random.getAsDouble()));
        } else {
          listener.exhausted();
        }
      }
      pump();
    }

    private static boolean isRefusal(KvReply reply) {
      return switch (reply) {
        case KvReply.Events _, KvReply.TreeDump _, KvReply.TooNew _ -> false;
        case KvReply.TreeDumpFailed _, KvReply.InvalidRange _, KvReply.Refused _ -> true;
      };
    }

    @Override
    public void cancel() {
      Alarms.Alarm alarmed;
      CompletableFuture<KvReply> asked;
      synchronized (lock) {
        if (ended) {
          return;
        }
        ended = true;
        waiting.remove(this);
        if (running) {
          running = false;
          Recoveries.this.running--;
        }
        alarmed = set;
        asked = reply;
      }
      if (alarmed != null) {
        alarmed.cancel();
      }
      if (asked != null) {
        asked.cancel(false);
      }
      pump();
    }
  }
}
