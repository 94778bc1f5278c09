package io.dynamo.request.tcp;

import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransportMetrics;
import java.util.LinkedHashSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many requests an engine runs and how many wait, first come first served, and how much
 * memory both take; further requests are refused. Safe for concurrent use. A waiting request is
 * started outside the lock, on the thread that made room for it.
 */
final class Admission {
  private enum State {
    WAITING,
    RUNNING,
    LEFT
  }

  /** The place of one request, either among the running or in the queue. */
  final class Ticket {
    private State state; // guarded by the admission
    private @Nullable Runnable onTurn; // guarded by the admission
    private final long heapBytes;
    private final long enteredNanos;

    private Ticket(State state, long heapBytes, long enteredNanos) {
      this.state = state;
      this.heapBytes = heapBytes;
      this.enteredNanos = enteredNanos;
    }

    /**
     * Runs {@code turn} as soon as the request may run, possibly at once; never after {@link
     * #leave}.
     */
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

    /** Gives up the place, whether running or waiting. Idempotent. */
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

  /**
   * Estimated heap bytes per byte of a request on the wire: a token id takes 2 to 6 bytes on the
   * wire and 4 while it is served; the engine keeps another copy, and a hash for each block.
   */
  static final int HEAP_PER_WIRE = 4;

  private final AdmissionSettings limits;
  private final ByteBudget memory;
  private final Metrics.Level active;
  private final Metrics.Level depth;
  private final Metrics.Counter rejected;
  private final Metrics.Timer waits;
  private final LongSupplier nanoTime;
  private final LinkedHashSet<Ticket> waiting = new LinkedHashSet<>(); // guarded by this
  private int running; // guarded by this

  /**
   * Creates the engine's admission, whose levels and limits are published.
   *
   * @param memory heap bytes shared by this and other admissions
   */
  Admission(AdmissionSettings limits, ByteBudget memory, Metrics metrics, LongSupplier nanoTime) {
    this(limits, memory, metrics, metrics, nanoTime);
    metrics.gauge(TransportMetrics.ENGINE_REQUEST, active::value);
    metrics.gauge(TransportMetrics.REQUEST_QUEUE, depth::value);
    metrics.gauge(TransportMetrics.POOL_CAPACITY, limits::running);
    metrics.gauge(TransportMetrics.QUEUE_CAPACITY, limits::waiting);
  }

  private Admission(
      AdmissionSettings limits,
      ByteBudget memory,
      Metrics levels,
      Metrics refusals,
      LongSupplier nanoTime) {
    this.limits = limits;
    this.memory = memory;
    this.nanoTime = nanoTime;
    waits = levels.timer(TransportMetrics.PERMIT_WAIT_SECONDS);
    active = levels.level(TransportMetrics.POOL_ACTIVE);
    depth = levels.level(TransportMetrics.QUEUE_DEPTH);
    rejected = refusals.counter(TransportMetrics.REJECTED);
  }

  /**
   * Returns an admission beside the engine's: its levels are not published, its refusals are
   * counted.
   */
  static Admission unpublished(
      AdmissionSettings limits, ByteBudget memory, Metrics metrics, LongSupplier nanoTime) {
    return new Admission(limits, memory, new Metrics(), metrics, nanoTime);
  }

  /**
   * Gives a request a place among the running ones, otherwise in the queue.
   *
   * @param wireBytes size of the request on the wire
   * @return null when there is no place or no memory
   */
  synchronized @Nullable Ticket enter(long wireBytes) {
    long heapBytes = HEAP_PER_WIRE * wireBytes;
    boolean full = running >= limits.running() && waiting.size() >= limits.waiting();
    if (full || !memory.take(heapBytes)) {
      rejected.increment();
      return null;
    }
    if (running < limits.running()) {
      running++;
      active.add(1);
      waits.record(0);
      return new Ticket(State.RUNNING, heapBytes, 0);
    }
    var ticket = new Ticket(State.WAITING, heapBytes, nanoTime.getAsLong());
    waiting.add(ticket);
    depth.add(1);
    return ticket;
  }

  private @Nullable Runnable vacate(Ticket leaving) {
    var left = leaving.state;
    leaving.state = State.LEFT;
    leaving.onTurn = null;
    if (left != State.LEFT) {
      memory.give(leaving.heapBytes);
    }
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
   * Passes a vacated place to the first waiting request and returns its turn. A request that has
   * not set its turn yet runs when it sets it.
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
