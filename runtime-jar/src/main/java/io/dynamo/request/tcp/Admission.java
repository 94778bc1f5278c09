package io.dynamo.request.tcp;

import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransportMetrics;
import java.util.LinkedHashSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How many requests an engine runs and how many wait, first come first served; more are refused.
 * Safe for concurrent use. Turns are told outside the lock, on the thread that made room.
 */
final class Admission {
  private enum State {
    WAITING,
    RUNNING,
    LEFT
  }

  /** A request's place. */
  final class Ticket {
    private State state; // guarded by the admission
    private @Nullable Runnable onTurn; // guarded by the admission
    private final long enteredNanos;

    private Ticket(State state, long enteredNanos) {
      this.state = state;
      this.enteredNanos = enteredNanos;
    }

    /** Runs {@code turn} when the request may run: at once, or later; not after it has left. */
    void whenTurn(Runnable turn) {
      synchronized (Admission.this) {
        if (state == State.WAITING) {
          onTurn = turn;
          return;
        }
        if (state == State.LEFT) {
          return;
        }
      }
      turn.run();
    }

    /** Gives the place up, whichever it is. Idempotent. */
    void leave() {
      Runnable next;
      synchronized (Admission.this) {
        next = vacate(this);
      }
      if (next != null) {
        next.run();
      }
    }
  }

  private final AdmissionSettings limits;
  private final Metrics.Level active;
  private final Metrics.Level depth;
  private final Metrics.Counter rejected;
  private final Metrics.Timer waits;
  private final LongSupplier nanoTime;
  private final LinkedHashSet<Ticket> waiting = new LinkedHashSet<>(); // guarded by this
  private int running; // guarded by this

  /** Of the engine: its levels and its limits are published. */
  Admission(AdmissionSettings limits, Metrics metrics, LongSupplier nanoTime) {
    this(limits, metrics, metrics, nanoTime);
    metrics.gauge(TransportMetrics.ENGINE_REQUEST, active::value);
    metrics.gauge(TransportMetrics.REQUEST_QUEUE, depth::value);
    metrics.gauge(TransportMetrics.POOL_CAPACITY, limits::running);
    metrics.gauge(TransportMetrics.QUEUE_CAPACITY, limits::waiting);
  }

  private Admission(
      AdmissionSettings limits, Metrics levels, Metrics refusals, LongSupplier nanoTime) {
    this.limits = limits;
    this.nanoTime = nanoTime;
    waits = levels.timer(TransportMetrics.PERMIT_WAIT_SECONDS);
    active = levels.level(TransportMetrics.POOL_ACTIVE);
    depth = levels.level(TransportMetrics.QUEUE_DEPTH);
    rejected = refusals.counter(TransportMetrics.REJECTED);
  }

  /** Beside the engine's, whose levels it leaves alone; refusals are counted all the same. */
  static Admission unpublished(AdmissionSettings limits, Metrics metrics, LongSupplier nanoTime) {
    return new Admission(limits, new Metrics(), metrics, nanoTime);
  }

  /** A place among those that run, else in the queue, else null. */
  synchronized @Nullable Ticket enter() {
    if (running < limits.running()) {
      running++;
      active.add(1);
      waits.record(0);
      return new Ticket(State.RUNNING, 0);
    }
    if (waiting.size() >= limits.waiting()) {
      rejected.increment();
      return null;
    }
    var ticket = new Ticket(State.WAITING, nanoTime.getAsLong());
    waiting.add(ticket);
    depth.add(1);
    return ticket;
  }

  private @Nullable Runnable vacate(Ticket leaving) {
    var left = leaving.state;
    leaving.state = State.LEFT;
    leaving.onTurn = null;
    return switch (left) {
      case LEFT -> null;
      case WAITING -> {
        waiting.remove(leaving);
        depth.add(-1);
        yield null;
      }
      case RUNNING -> next();
    };
  }

  /**
   * Passes a vacated place on. One that has not said yet what to run finds its turn when it does.
   */
  private @Nullable Runnable next() {
    if (waiting.isEmpty()) {
      running--;
      active.add(-1);
      return null;
    }
    var first = waiting.removeFirst();
    depth.add(-1);
    first.state = State.RUNNING;
    waits.record(nanoTime.getAsLong() - first.enteredNanos);
    var turn = first.onTurn;
    first.onTurn = null;
    return turn;
  }
}
