package io.dynamo.event.zmq;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * Keeps a SUB socket connected to one endpoint, whatever happens there, until it is closed. The
 * library connects again by itself what was cut, but not what has broken the protocol: one event
 * that is too large would silence its sender for ever. What is not back soon is connected anew. By
 * the loop's thread only.
 */
final class PeerLink {
  private static final System.Logger LOG = System.getLogger(PeerLink.class.getName());
  private static final Duration RECONNECT_DELAY = Duration.ofSeconds(3);

  /** Is told how the link fares, on the loop's thread. */
  interface Watcher {
    /** The connection is up, for the first time or again. */
    void up();

    /** The connection has broken; it may be up again in a moment. */
    void down();

    /** The connection has not been up for a while; told once until it is. */
    void cut();
  }

  private final String what;
  private final String endpoint;
  private final String prefix;
  private final SocketLoop loop;
  private final ZmqSockets sockets;
  private final Executor threads;
  private final Function<ZMQ.Socket, EventConnection> connections;
  private final Watcher watcher;
  private @Nullable EventConnection connection;
  private int attempt; // of connecting; tells the words of one socket from those of another
  private boolean linked;
  private boolean cut;
  private boolean complained;
  private boolean closed;

  /**
   * @param what is not heard when it cannot be reached; for the log
   * @param prefix of the first frame of what is wanted
   * @param threads for looking up host names
   * @param connections reads a connected socket
   */
  PeerLink(
      String what,
      String endpoint,
      String prefix,
      SocketLoop loop,
      ZmqSockets sockets,
      Executor threads,
      Function<ZMQ.Socket, EventConnection> connections,
      Watcher watcher) {
    this.what = what;
    this.endpoint = endpoint;
    this.prefix = prefix;
    this.loop = loop;
    this.sockets = sockets;
    this.threads = threads;
    this.connections = connections;
    this.watcher = watcher;
  }

  String endpoint() {
    return endpoint;
  }

  /** Looks the host up and connects; again and again until it works or this is closed. */
  void open() {
    if (closed) {
      return;
    }
    loop.executeAfter(RECONNECT_DELAY, this::tellWhenCut);
    PeerAddress address;
    try {
      address = PeerAddress.parse(endpoint);
    } catch (IllegalArgumentException e) {
      complain(e); // nothing mends it but another endpoint
      return;
    }
    if (address.isLiteral()) {
      connect(address);
    } else {
      // a name may take long to look up: not on this thread
      threads.execute(
          () -> {
            try {
              var resolved = address.resolved();
              loop.execute(() -> connect(resolved));
            } catch (IllegalArgumentException e) {
              loop.execute(() -> unreachable(e));
            }
          });
    }
  }

  private void connect(PeerAddress address) {
    if (closed) {
      return; // meanwhile
    }
    try {
      int current = ++attempt;
      linked = false;
      var socket =
          sockets.subscriber(prefix, address, up -> loop.execute(() -> linked(current, up)));
      var made = connections.apply(socket);
      connection = made;
      made.open();
    } catch (RuntimeException e) {
      unreachable(e);
    }
  }

  private void tellWhenCut() {
    if (!linked && !cut && !closed) {
      cut = true;
      watcher.cut();
    }
  }

  private void linked(int current, boolean up) {
    if (attempt != current || closed) {
      return; // a word of the socket before
    }
    linked = up;
    if (up) {
      cut = false;
      watcher.up();
    } else {
      watcher.down();
      loop.executeAfter(
          RECONNECT_DELAY,
          () -> {
            var broken = connection;
            if (attempt == current && !linked && broken != null && !closed) {
              connection = null;
              broken.finish();
              tellWhenCut();
              open();
            }
          });
    }
  }

  private void unreachable(RuntimeException why) {
    complain(why);
    loop.executeAfter(RECONNECT_DELAY, this::open);
  }

  /** Logs once. */
  private void complain(RuntimeException why) {
    if (!complained) {
      complained = true;
      LOG.log(
          Level.WARNING, "%s is not heard: cannot connect to %s".formatted(what, endpoint), why);
    }
  }

  /** Reads what has arrived, as far as it is bounded, and closes. */
  void finish() {
    var last = connection;
    if (last != null) {
      connection = null;
      last.finish();
    }
    closed = true;
  }

  void close() {
    var last = connection;
    if (last != null) {
      connection = null;
      last.close();
    }
    closed = true;
  }
}
