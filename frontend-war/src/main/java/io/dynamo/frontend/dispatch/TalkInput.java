package io.dynamo.frontend.dispatch;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.BodyTask;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Carries the events of a session's client to its worker. A bounded number of events waits; who
 * offers more waits with them. Until the worker's first answer all events are kept, within bounds,
 * so that another worker can be given them when it is lost. What a worker does not want any more is
 * dropped. One thread offers; the subscriber is called on that thread or on the one that asks for
 * more, never on two at once.
 */
public final class TalkInput implements Flow.Publisher<BodyTask> {
  /** Events that wait at most. */
  public static final int CAPACITY = 64;

  private static final long WAITING_BYTES = 16L << 20; // likewise, unless it is one event
  private static final long KEPT_BYTES = 1L << 20; // for another worker

  private static final Flow.Subscription NOTHING =
      new Flow.Subscription() {
        @Override
        public void request(long count) {
          // there is nothing
        }

        @Override
        public void cancel() {
          // nothing begins
        }
      };

  /** An event, charged until it is neither waiting nor kept. Guarded by the lock. */
  private static final class Event {
    final BodyTask task;
    final long bytes;
    boolean isKept;
    boolean isGone; // to the worker, or dropped

    Event(BodyTask task, long bytes) {
      this.task = task;
      this.bytes = bytes;
    }
  }

  private final LongConsumer charge;
  private final Object lock = new Object();
  private final Deque<Event> waiting = new ArrayDeque<>(); // guarded by lock, as all that follows
  private final Deque<Event> unwritten = new ArrayDeque<>(); // given to the plane
  private @Nullable List<Event> kept = new ArrayList<>(); // null once a worker has answered
  private long keptBytes;
  private long waitingBytes;
  private @Nullable Subscription current;
  private boolean complete;
  private boolean closed;

  /**
   * @param charge is given the change of the bytes that are held; it may refuse by an exception
   */
  public TalkInput(LongConsumer charge) {
    this.charge = charge;
  }

  /**
   * Adds an event; waits while too many are waiting.
   *
   * @return false when no more are wanted
   */
  public boolean offer(BodyTask task, long bytes) throws InterruptedException {
    Subscription to;
    synchronized (lock) {
      while (!closed
          && !isUnwanted()
          && (waiting.size() >= CAPACITY
              || (!waiting.isEmpty() && waitingBytes + bytes > WAITING_BYTES))) {
        lock.wait();
      }
      if (closed || complete) {
        return false;
      }
      charge.accept(bytes);
      var event = new Event(task, bytes);
      keep(event);
      if (isUnwanted()) {
        release(List.of(event));
        return true;
      }
      waiting.add(event);
      waitingBytes += bytes;
      to = current;
    }
    if (to != null) {
      to.drain();
    }
    return true;
  }

  /** Whether the worker takes no more, though it may still answer. Called with the lock. */
  private boolean isUnwanted() {
    return current != null && current.over;
  }

  /** Called with the lock. */
  private void keep(Event event) {
    var before = kept;
    if (before != null) {
      keptBytes += event.bytes;
      if (keptBytes > KEPT_BYTES || before.size() == CAPACITY) {
        forget();
      } else {
        before.add(event);
        event.isKept = true;
      }
    }
  }

  /** Forgets what was kept for another worker: this one has answered. */
  public void answered() {
    synchronized (lock) {
      forget();
    }
  }

  /** Called with the lock. */
  private void forget() {
    var before = kept;
    if (before == null) {
      return;
    }
    kept = null;
    long freed = 0;
    for (var event : before) {
      event.isKept = false;
      freed += event.isGone ? event.bytes : 0;
    }
    charge.accept(-freed);
  }

  /** Ends the charge for events that have gone, unless they are kept. Called with the lock. */
  private void release(Iterable<Event> gone) {
    long freed = 0;
    for (var event : gone) {
      event.isGone = true;
      freed += event.isKept ? 0 : event.bytes;
    }
    charge.accept(-freed);
  }

  /** Drops what waits for a worker that wants no more. Called with the lock. */
  private void drop() {
    release(waiting);
    release(unwritten);
    waiting.clear();
    unwritten.clear();
    waitingBytes = 0;
    lock.notifyAll();
  }

  /** Ends the input after the events so far. */
  public void complete() {
    Subscription to;
    synchronized (lock) {
      complete = true;
      to = current;
    }
    if (to != null) {
      to.drain();
    }
  }

  /** Drops what waits, and frees who waits to offer more. Idempotent. */
  public void close() {
    synchronized (lock) {
      closed = true;
      waiting.clear();
      unwritten.clear();
      waitingBytes = 0;
      kept = null;
      lock.notifyAll();
    }
  }

  /**
   * Whether another worker could be given all that was said.
   *
   * @throws EngineFailedException when it could not
   */
  void requireWhole() {
    synchronized (lock) {
      if (current != null && kept == null) {
        throw new EngineFailedException(
            ErrorCode.BACKEND_UNKNOWN,
            "the worker was lost after more was said than is kept for another one",
            null);
      }
    }
  }

  /** Fails when an earlier subscriber was given what is not kept any more. */
  @Override
  public void subscribe(Flow.Subscriber<? super BodyTask> subscriber) {
    var next = new Subscription(subscriber);
    EngineFailedException loss = null;
    synchronized (lock) {
      try {
        requireWhole();
        if (current != null && kept != null) {
          replay(current, kept);
        }
        current = next;
      } catch (EngineFailedException e) { // meanwhile more was said, or the worker has answered
        loss = e;
      }
    }
    if (loss == null) {
      subscriber.onSubscribe(next);
      next.drain();
    } else {
      subscriber.onSubscribe(NOTHING);
      subscriber.onError(loss);
    }
  }

  /** Called with the lock. */
  private void replay(Subscription lost, List<Event> all) {
    lost.over = true;
    waiting.clear();
    unwritten.clear();
    for (var event : all) {
      event.isGone = false;
      waiting.add(event);
    }
    waitingBytes = keptBytes;
  }

  private final class Subscription implements Flow.Subscription {
    private final Flow.Subscriber<? super BodyTask> to;
    private long demand; // guarded by lock, as all that follows
    private boolean demanded;
    private boolean emitting;
    private boolean over;

    Subscription(Flow.Subscriber<? super BodyTask> to) {
      this.to = to;
    }

    /** The plane asks for as many events as it has written since the last time. */
    @Override
    public void request(long count) {
      if (count <= 0) {
        fail(new IllegalArgumentException("a demand of " + count + " is not positive"));
        return;
      }
      synchronized (lock) {
        demand = demand + count < 0 ? Long.MAX_VALUE : demand + count;
        if (demanded && current == this) {
          var written = new ArrayList<Event>();
          for (long i = 0; i < count && !unwritten.isEmpty(); i++) {
            written.add(unwritten.remove());
          }
          release(written);
        }
        demanded = true;
      }
      drain();
    }

    private void fail(Throwable cause) {
      synchronized (lock) {
        if (over) {
          return;
        }
        end();
      }
      to.onError(cause);
    }

    @Override
    public void cancel() {
      synchronized (lock) {
        end();
      }
    }

    /** Called with the lock. */
    private void end() {
      over = true;
      if (current == this) {
        drop();
      }
    }

    private void drain() {
      synchronized (lock) {
        if (emitting) {
          return; // whoever emits looks again
        }
        emitting = true;
      }
      while (true) {
        Event next;
        synchronized (lock) {
          boolean mine = current == this && !over;
          next = mine && demand > 0 ? waiting.poll() : null;
          if (next == null) {
            boolean last = mine && complete && waiting.isEmpty();
            over |= last;
            emitting = false;
            if (!last) {
              return;
            }
          } else {
            demand--;
            waitingBytes -= next.bytes;
            unwritten.add(next);
            lock.notifyAll();
          }
        }
        if (next == null) {
          to.onComplete();
          return;
        }
        to.onNext(next.task);
      }
    }
  }
}
