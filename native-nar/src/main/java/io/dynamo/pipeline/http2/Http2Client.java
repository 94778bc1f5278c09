package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.StreamListener;
import io.dynamo.pipeline.TlsContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to HTTP/2 servers over a few connections per address: the least loaded one takes
 * the next request, and a new one is opened only while all are busy. Safe for concurrent use.
 */
public final class Http2Client implements AutoCloseable {
  /** Receives the outcome of one request, once, on an event loop. */
  public interface Outcome {
    /** Called when the worker has accepted the request; its answer follows. */
    void accepted();

    /**
     * Called when the worker has refused the request.
     *
     * @param text the worker's reason
     */
    void refused(String text);

    /** Called when the worker was not reached, or ended the stream without an answer. */
    void failed(Throwable cause);

    /** Called when the head of the response has not come in time. */
    void late(Duration limit);

    /** Called when all connections to the worker have as many streams as they may. */
    void busy(int streams);
  }

  /** The streams of a connection above which another one is opened. */
  private static final int BUSY_STREAMS = 64;

  private final EventLoops loops;
  private final @Nullable TlsContext tls;
  private final Http2Bounds bounds;
  private final Duration connectTimeout;
  private final int poolSize;
  private final Map<InetSocketAddress, List<Http2Connection>> connections =
      new HashMap<>(); // guarded by this
  private boolean closed; // guarded by this

  /**
   * @param tls owned and closed by the caller; null for unencrypted connections
   * @param poolSize the most connections per address
   */
  public Http2Client(
      EventLoops loops,
      @Nullable TlsContext tls,
      Http2Bounds bounds,
      Duration connectTimeout,
      int poolSize) {
    this.loops = loops;
    this.tls = tls;
    this.bounds = bounds;
    this.connectTimeout = connectTimeout;
    this.poolSize = poolSize;
  }

  /**
   * Sends a request.
   *
   * @param answer receives the answer once the request is accepted; null cuts it off there
   */
  public void send(
      InetSocketAddress worker,
      Http2Request request,
      @Nullable StreamListener answer,
      Outcome outcome) {
    send(new Http2Call(worker, request, answer, outcome), false);
  }

  /**
   * @param afresh whether pooled connections may be as stale as the one that has failed the call:
   *     one that is being opened, or a new one, is then preferred
   */
  void send(Http2Call call, boolean afresh) {
    Http2Connection chosen;
    boolean made = false;
    boolean refused;
    synchronized (this) {
      refused = closed;
      var known = connections.computeIfAbsent(call.worker(), _ -> new ArrayList<>());
      chosen = leastLoaded(known, afresh);
      if (!refused
          && known.size() < poolSize
          && (chosen == null || chosen.load() >= BUSY_STREAMS)) {
        chosen = new Http2Connection(this, loops.next(), call.worker(), tls, bounds);
        known.add(chosen);
        made = true;
      } else if (chosen == null) {
        chosen = leastLoaded(known, false);
      }
    }
    if (refused || chosen == null) {
      call.outcome().failed(new IOException("the client is closed"));
    } else {
      if (made) {
        chosen.connect(loops, connectTimeout);
      }
      chosen.send(call);
    }
  }

  private static @Nullable Http2Connection leastLoaded(
      List<Http2Connection> among, boolean connectingOnly) {
    Http2Connection best = null;
    for (var each : among) {
      if ((!connectingOnly || each.isConnecting()) && (best == null || each.load() < best.load())) {
        best = each;
      }
    }
    return best;
  }

  synchronized void forget(InetSocketAddress worker, Http2Connection gone) {
    var known = connections.get(worker);
    if (known != null && known.remove(gone) && known.isEmpty()) {
      connections.remove(worker);
    }
  }

  /** Returns the number of open connections, to all workers. */
  public synchronized int connections() {
    return connections.values().stream().mapToInt(List::size).sum();
  }

  /** Closes all connections with their streams. Idempotent. */
  @Override
  public void close() {
    List<Http2Connection> open = new ArrayList<>();
    synchronized (this) {
      closed = true;
      connections.values().forEach(open::addAll);
    }
    open.forEach(Http2Connection::close);
  }
}
