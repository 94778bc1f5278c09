package io.dynamo.event.zmq;

import io.dynamo.config.EventSettings;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.zeromq.SocketType;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import org.zeromq.ZMonitor;

/**
 * The library's context and the options of every socket. Sockets are made and used on the thread of
 * one loop; the context is safe for concurrent use.
 */
final class ZmqSockets {
  private static final System.Logger LOG = System.getLogger(ZmqSockets.class.getName());
  private static final int MAX_SOCKETS = 16_384;
  private static final int BACKLOG = 1024;
  private static final int MAX_SUBSCRIPTION_BYTES = 4096; // what a subscriber may send us at once
  private static final int RECONNECT_MILLIS = 100;
  private static final int RECONNECT_MAX_MILLIS = 2_000;
  private static final int ACCEPTED_HANDSHAKE_MILLIS = 10_000;

  /**
   * The library sometimes forgets a connection that it has just made, before a byte is sent
   * (https://github.com/zeromq/jeromq/pull/1022); the end of this time is what makes it anew. Two
   * round trips are what a handshake needs.
   */
  private static final int CONNECTED_HANDSHAKE_MILLIS = 2_000;

  // a subscriber never writes: without these it would hear a vanished host for ever
  private static final int HEARTBEAT_MILLIS = 5_000;
  private static final int HEARTBEAT_TIMEOUT_MILLIS = 15_000;

  private final EventSettings settings;
  private final ZMQ.Context context = ZMQ.context(1);

  ZmqSockets(EventSettings settings) {
    this.settings = settings;
    context.setMaxSockets(MAX_SOCKETS);
    context.setThreadFactor(
        (work, name) ->
            Thread.ofPlatform()
                .daemon()
                .inheritInheritableThreadLocals(false)
                .name("event-zmq-" + name)
                .uncaughtExceptionHandler(ZmqSockets::died)
                .unstarted(work));
    context.setNotificationExceptionHandler(
        (_, e) -> LOG.log(Level.WARNING, "a connection of the event plane failed", e));
  }

  private static void died(Thread thread, Throwable cause) {
    LOG.log(Level.ERROR, "thread " + thread.getName() + " has died; no more events here", cause);
  }

  /** A publisher's socket, bound to a port that the system chose. */
  PublisherSocket publisher() {
    var socket = unattached();
    try {
      socket.setHandshakeIvl(ACCEPTED_HANDSHAKE_MILLIS);
      socket.setBacklog(BACKLOG);
      var host = settings.zmqBind();
      boolean ipv6 = host.indexOf(':') >= 0;
      socket.setIPv6(ipv6);
      var address = "tcp://" + (ipv6 ? "[" + host + "]" : host) + ":*";
      if (!socket.bind(address)) {
        throw new IllegalStateException("cannot bind an event publisher to " + address);
      }
      return new PublisherSocket(socket);
    } catch (RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * A publisher's socket, connected to all of {@code brokers}.
   *
   * @throws IllegalArgumentException when an address is none
   */
  PublisherSocket publisher(List<PeerAddress> brokers) {
    var socket = unattached();
    try {
      socket.setHandshakeIvl(CONNECTED_HANDSHAKE_MILLIS);
      socket.setReconnectIVL(RECONNECT_MILLIS);
      socket.setReconnectIVLMax(RECONNECT_MAX_MILLIS);
      socket.setHeartbeatIvl(HEARTBEAT_MILLIS);
      socket.setHeartbeatTimeout(HEARTBEAT_TIMEOUT_MILLIS);
      for (var broker : brokers) {
        socket.setIPv6(broker.isIpv6());
        if (!socket.connect(broker.endpoint())) {
          throw new IllegalStateException("cannot connect to " + broker.endpoint());
        }
      }
      return new PublisherSocket(socket);
    } catch (RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  private ZMQ.Socket unattached() {
    var socket = context.socket(PublisherSocket.TYPE);
    socket.setLinger(0);
    socket.setSndHWM(settings.zmqHighWaterMark());
    socket.setMaxMsgSize(MAX_SUBSCRIPTION_BYTES);
    return socket;
  }

  /** The address of {@code bound} that others are told. */
  PeerAddress advertised(PublisherSocket bound) {
    var endpoint = bound.socket().getLastEndpoint();
    int port = PeerAddress.parse(endpoint).port();
    var host = settings.zmqHost();
    return new PeerAddress(host == null ? settings.zmqBind() : host, port);
  }

  /**
   * A SUB socket that connects to {@code address}, and again whenever the connection is cut, but
   * not when the peer has broken the protocol.
   *
   * @param link told on a thread of the library when a connection is up, and when it is down
   */
  ZMQ.Socket subscriber(String topic, PeerAddress address, Consumer<Boolean> link) {
    var socket = context.socket(SocketType.SUB);
    try {
      socket.setLinger(0);
      socket.setRcvHWM(settings.zmqHighWaterMark());
      socket.setMaxMsgSize(settings.zmqMaxMessageBytes());
      socket.setReconnectIVL(RECONNECT_MILLIS);
      socket.setReconnectIVLMax(RECONNECT_MAX_MILLIS);
      socket.setHandshakeIvl(CONNECTED_HANDSHAKE_MILLIS);
      socket.setHeartbeatIvl(HEARTBEAT_MILLIS);
      socket.setHeartbeatTimeout(HEARTBEAT_TIMEOUT_MILLIS);
      socket.setIPv6(address.isIpv6());
      socket.subscribe(EventFrames.topic(topic));
      ZEvent.ZEventConsummer hook =
          event -> link.accept(event.getEvent() == ZMonitor.Event.CONNECTED);
      socket.setEventHook(hook, ZMQ.EVENT_CONNECTED | ZMQ.EVENT_DISCONNECTED);
      if (!socket.connect(address.endpoint())) {
        throw new IllegalStateException("cannot connect to " + address.endpoint());
      }
      return socket;
    } catch (RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Ends {@code loops}, whose sockets these are, and then the library's threads; waits for that as
   * long as {@code patience}.
   */
  void closeAfter(Duration patience, SocketLoop... loops) {
    for (var loop : loops) {
      loop.end();
    }
    // the context waits for its sockets, and no thread of ours shall carry what the library leaves
    var ending =
        Thread.ofPlatform()
            .daemon()
            .inheritInheritableThreadLocals(false)
            .name("event-zmq-end")
            .start(() -> end(patience, loops));
    try {
      if (!ending.join(patience)) {
        LOG.log(
            Level.WARNING,
            "the sockets of the event plane have not ended within {0} ms; their threads are left"
                + " behind",
            patience.toMillis());
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void end(Duration patience, SocketLoop... loops) {
    try {
      for (var loop : loops) {
        if (!loop.join(patience)) {
          return;
        }
      }
      close();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the library's threads; waits until every socket has been closed. */
  private void close() {
    try {
      context.term();
    } catch (ZMQException e) {
      LOG.log(Level.WARNING, "the event plane's context did not end", e);
    }
  }
}
