package io.dynamo.event.zmq;

import io.dynamo.config.EventSettings;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * Publishers of other programs over ZeroMQ, whichever event plane there is: a SUB socket for each
 * that is followed, and one thread for all of them, which is there once something is followed. Safe
 * for concurrent use.
 */
public final class ZmqRawStreams implements RawStreams {
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(6);
  private static final String EVERYTHING = "";

  /** What is there once something is followed. */
  private record Running(SocketLoop loop, ZmqSockets sockets, ExecutorService threads) {}

  private final EventSettings settings;
  private @Nullable Running running; // this and below: guarded by this
  private boolean closed;

  public ZmqRawStreams(EventSettings settings) {
    this.settings = settings;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException when this is closed
   */
  @Override
  public Following follow(
      String what, String endpoint, int frames, Metrics.Counter dropped, Listener listener) {
    var on = running();
    var link =
        new PeerLink(
            what,
            endpoint,
            EVERYTHING,
            on.loop,
            on.sockets,
            on.threads,
            socket -> new Connection(what, endpoint, frames, on.loop, socket, dropped, listener),
            new PeerLink.Watcher() {
              @Override
              public void up() {
                listener.up();
              }

              @Override
              public void down() {} // told when it is up again, or when that takes long

              @Override
              public void cut() {
                listener.cut();
              }
            });
    on.loop.execute(link::open);
    var open = new AtomicBoolean(true);
    return () -> {
      if (open.getAndSet(false)) {
        on.loop.execute(link::close);
      }
    };
  }

  private synchronized Running running() {
    if (closed) {
      throw new IllegalStateException("the streams are closed");
    }
    var on = running;
    if (on == null) {
      on =
          new Running(
              new SocketLoop("raw-zmq-receive"),
              new ZmqSockets(settings),
              Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("raw-zmq-", 0).factory()));
      running = on;
    }
    return on;
  }

  /** Hands each message on as it is. */
  private static final class Connection extends EventConnection {
    private final Listener listener;

    Connection(
        String what,
        String endpoint,
        int frames,
        SocketLoop loop,
        ZMQ.Socket socket,
        Metrics.Counter dropped,
        Listener listener) {
      super(what, endpoint, frames, loop, socket, dropped);
      this.listener = listener;
    }

    @Override
    void hear(byte[][] frames) throws IOException {
      listener.message(frames);
    }
  }

  /** Closes all sockets and ends the threads. Idempotent. */
  @Override
  public void close() {
    Running on;
    synchronized (this) {
      closed = true;
      on = running;
      running = null;
    }
    if (on != null) {
      on.sockets.closeAfter(CLOSE_PATIENCE, on.loop);
      on.threads.shutdownNow();
    }
  }
}
