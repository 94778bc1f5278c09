package io.dynamo.request.tcp;

import io.dynamo.config.memory.HeapShare;
import io.dynamo.config.plane.PoolSettings;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.TlsContext;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections to workers, a few per address: the least loaded one takes the next request, and a
 * new one is opened only while all are busy. Those without requests are closed after a time. Safe
 * for concurrent use.
 */
final class ConnectionPool {
  private static final long LEAST_SWEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** A pooled connection. */
  private static final class Member {
    final RequestConnection connection;
    long usedNanos; // guarded by the pool

    Member(RequestConnection connection, long usedNanos) {
      this.connection = connection;
      this.usedNanos = usedNanos;
    }

    boolean isFree() {
      return connection.load() == 0;
    }
  }

  /** Where a request goes. */
  private record Choice(
      RequestConnection connection, boolean fresh, @Nullable RequestConnection replaced) {}

  final ByteBudget budget;
  private final TcpSettings settings;
  private final PoolSettings bounds;
  private final @Nullable TlsContext tls;
  private final EventLoops loops;
  private final PlaneMeters meters;
  private final LongSupplier nanoTime;
  private final ConnectGate gate;
  private final Future<?> sweep;
  private final Map<InetSocketAddress, List<Member>> connections =
      new HashMap<>(); // guarded by this
  private @Nullable DynamoException closed; // guarded by this

  ConnectionPool(
      TcpSettings settings,
      @Nullable TlsContext tls,
      EventLoops loops,
      PlaneMeters meters,
      LongSupplier nanoTime) {
    long heapShare = HeapShare.UNSENT_REQUESTS.bytes();
    budget = new ByteBudget(Math.min(settings.maxUnsentBytes(), heapShare));
    this.settings = settings;
    this.bounds = settings.pool();
    this.tls = tls;
    this.loops = loops;
    this.meters = meters;
    this.nanoTime = nanoTime;
    gate = new ConnectGate(bounds.maxConnecting());
    long sweepNanos = Math.max(LEAST_SWEEP_NANOS, bounds.idle().toNanos() / 2);
    sweep =
        loops
            .next()
            .scheduleWithFixedDelay(this::closeIdle, sweepNanos, sweepNanos, TimeUnit.NANOSECONDS);
  }

  /** Sends a request; refuses it at once when too many bytes wait to be sent. */
  void send(InetSocketAddress worker, RequestFrame frame, RequestConnection.Outcome outcome) {
    if (!budget.take(frame.length())) {
      outcome.failed(tooMuchUnsent());
      return;
    }
    dispatch(new Delivery(this, worker, frame, outcome), false);
  }

  OverloadedException tooMuchUnsent() {
    return new OverloadedException(
        ("requests of %d bytes wait to be sent; dynamo.request.tcp.max-unsent and a sixteenth"
                + " of the heap allow %d")
            .formatted(budget.taken(), budget.maxBytes()));
  }

  /** Sends again a request that a closed connection did not deliver. */
  void repeat(Delivery delivery) {
    dispatch(delivery, true);
  }

  /** Opens a connection to a worker that has none. */
  void warm(InetSocketAddress worker) {
    RequestConnection first;
    synchronized (this) {
      if (closed != null || connections.containsKey(worker)) {
        return;
      }
      first = open(worker, new ArrayList<>(), false);
    }
    first.connect(loops, gate);
  }

  /**
   * @param afresh whether to prefer a new connection: pooled ones may be as stale as the one that
   *     failed. In a full pool it takes the place of one without requests
   */
  private void dispatch(Delivery delivery, boolean afresh) {
    DynamoException refused;
    Choice choice;
    synchronized (this) {
      refused = closed;
      choice = refused == null ? choose(delivery.worker(), afresh) : null;
    }
    if (choice == null) {
      delivery.failed(Objects.requireNonNull(refused));
      return;
    }
    if (choice.replaced() != null) {
      choice.replaced().close(wasIdle(delivery.worker()));
    }
    if (choice.fresh()) {
      delivery.isOnFreshConnection();
      choice.connection().connect(loops, gate);
    }
    choice.connection().send(delivery.frame(), delivery);
  }

  /** Returns a connection with a place for one more request. The caller holds the lock. */
  private Choice choose(InetSocketAddress worker, boolean afresh) {
    var listed = connections.get(worker);
    var known = listed == null ? new ArrayList<Member>() : listed;
    var best = leastLoaded(known);
    boolean full = known.size() >= bounds.size();
    if (best == null || (!full && (afresh || !best.isFree()))) {
      return new Choice(open(worker, known, true), true, null);
    }
    if (afresh && best.isFree()) {
      known.remove(best);
      return new Choice(open(worker, known, true), true, best.connection);
    }
    best.connection.reserve();
    best.usedNanos = nanoTime.getAsLong();
    return new Choice(best.connection, false, null);
  }

  private RequestConnection open(InetSocketAddress worker, List<Member> known, boolean reserved) {
    var made =
        new RequestConnection(loops, worker, settings, tls, meters, gone -> forget(worker, gone));
    if (reserved) {
      made.reserve();
    }
    known.add(new Member(made, nanoTime.getAsLong()));
    connections.put(worker, known);
    return made;
  }

  private static @Nullable Member leastLoaded(List<Member> among) {
    Member best = null;
    for (var each : among) {
      if (best == null || each.connection.load() < best.connection.load()) {
        best = each;
      }
    }
    return best;
  }

  private synchronized void forget(InetSocketAddress worker, RequestConnection gone) {
    var known = connections.get(worker);
    if (known != null && known.removeIf(each -> each.connection == gone) && known.isEmpty()) {
      connections.remove(worker);
    }
  }

  /** Closes connections that have had no request for the time that they are kept. */
  void closeIdle() {
    long now = nanoTime.getAsLong();
    var idle = new HashMap<RequestConnection, InetSocketAddress>();
    synchronized (this) {
      for (var known : connections.entrySet()) {
        for (var each : known.getValue()) {
          if (!each.isFree()) {
            each.usedNanos = now;
          } else if (now - each.usedNanos >= bounds.idle().toNanos()) {
            idle.put(each.connection, known.getKey());
          }
        }
      }
      idle.forEach((connection, worker) -> forget(worker, connection));
    }
    idle.forEach((connection, worker) -> connection.close(wasIdle(worker)));
  }

  private static WorkerLostException wasIdle(InetSocketAddress worker) {
    return new WorkerLostException(
        ErrorCode.CANNOT_CONNECT, "the connection to worker %s was idle".formatted(worker));
  }

  /** Returns the number of open connections, to all workers. */
  synchronized int size() {
    return connections.values().stream().mapToInt(List::size).sum();
  }

  /** Returns the number of requests without an acknowledgement, at all workers. */
  synchronized int load() {
    return connections.values().stream()
        .flatMap(List::stream)
        .mapToInt(each -> each.connection.load())
        .sum();
  }

  void close(DynamoException cause) {
    sweep.cancel(false);
    List<Member> open = new ArrayList<>();
    synchronized (this) {
      closed = cause;
      connections.values().forEach(open::addAll);
    }
    open.forEach(each -> each.connection.close(cause));
  }
}
