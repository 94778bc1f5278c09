package io.dynamo.request.tcp;

import io.dynamo.config.memory.HeapShare;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.error.OverloadedException;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.TlsContext;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The connections to workers, a few per address: the least loaded one takes the next request, and a
 * new one is opened only while all are busy. Safe for concurrent use.
 */
final class ConnectionPool {
  final ByteBudget budget;
  private final TcpSettings settings;
  private final @Nullable TlsContext tls;
  private final EventLoops loops;
  private final PlaneMeters meters;
  private final Map<InetSocketAddress, List<RequestConnection>> connections =
      new HashMap<>(); // guarded by this
  private @Nullable DynamoException closed; // guarded by this

  ConnectionPool(
      TcpSettings settings, @Nullable TlsContext tls, EventLoops loops, PlaneMeters meters) {
    long heapShare = HeapShare.UNSENT_REQUESTS.bytes();
    budget = new ByteBudget(Math.min(settings.maxUnsentBytes(), heapShare));
    this.settings = settings;
    this.tls = tls;
    this.loops = loops;
    this.meters = meters;
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

  /**
   * @param afresh whether to use a new connection even if the pool is full: pooled connections may
   *     be as stale as the one that failed
   */
  private void dispatch(Delivery delivery, boolean afresh) {
    RequestConnection chosen;
    boolean fresh = false;
    DynamoException refused;
    synchronized (this) {
      refused = closed;
      var known = connections.computeIfAbsent(delivery.worker(), address -> new ArrayList<>());
      chosen = afresh ? null : leastLoaded(known);
      if (refused == null
          && (chosen == null || (chosen.load() > 0 && known.size() < settings.poolSize()))) {
        chosen =
            new RequestConnection(
                loops,
                delivery.worker(),
                settings,
                tls,
                meters,
                gone -> forget(delivery.worker(), gone));
        known.add(chosen);
        fresh = true;
      }
    }
    if (refused != null || chosen == null) {
      delivery.failed(Objects.requireNonNull(refused));
      return;
    }
    if (fresh) {
      delivery.isOnFreshConnection();
      chosen.connect(loops);
    }
    chosen.send(delivery.frame(), delivery);
  }

  private static @Nullable RequestConnection leastLoaded(List<RequestConnection> among) {
    RequestConnection best = null;
    for (var each : among) {
      if (best == null || each.load() < best.load()) {
        best = each;
      }
    }
    return best;
  }

  private synchronized void forget(InetSocketAddress worker, RequestConnection gone) {
    var known = connections.get(worker);
    if (known != null && known.remove(gone) && known.isEmpty()) {
      connections.remove(worker);
    }
  }

  /** Returns the number of open connections, to all workers. */
  synchronized int size() {
    return connections.values().stream().mapToInt(List::size).sum();
  }

  void close(DynamoException cause) {
    List<RequestConnection> open = new ArrayList<>();
    synchronized (this) {
      closed = cause;
      connections.values().forEach(open::addAll);
    }
    open.forEach(each -> each.close(cause));
  }
}
