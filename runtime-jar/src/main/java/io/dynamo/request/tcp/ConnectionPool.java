package io.dynamo.request.tcp;

import io.dynamo.config.TcpSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.pipeline.EventLoops;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connections to workers, a few per address: the least loaded takes the next request, and a new
 * one is opened only while all are busy. Safe for concurrent use.
 */
final class ConnectionPool {
  private final TcpSettings settings;
  private final EventLoops loops;
  private final PlaneMeters meters;
  private final Map<InetSocketAddress, List<RequestConnection>> connections =
      new HashMap<>(); // guarded by this
  private @Nullable DynamoException closed; // guarded by this

  ConnectionPool(TcpSettings settings, EventLoops loops, PlaneMeters meters) {
    this.settings = settings;
    this.loops = loops;
    this.meters = meters;
  }

  void send(InetSocketAddress worker, RequestFrame frame, RequestConnection.Outcome outcome) {
    RequestConnection chosen;
    boolean fresh = false;
    DynamoException refused;
    synchronized (this) {
      refused = closed;
      var known = connections.computeIfAbsent(worker, address -> new ArrayList<>());
      chosen = leastLoaded(known);
      if (chosen == null || (chosen.load() > 0 && known.size() < settings.poolSize())) {
        chosen =
            new RequestConnection(loops, worker, settings, meters, gone -> forget(worker, gone));
        known.add(chosen);
        fresh = true;
      }
    }
    if (refused != null) {
      outcome.failed(refused);
      return;
    }
    if (fresh) {
      chosen.connect(loops);
    }
    chosen.send(frame, outcome);
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

  /** Open connections, to all workers. */
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
