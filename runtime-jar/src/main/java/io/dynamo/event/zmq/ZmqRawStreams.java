package io.dynamo.event.zmq;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.event.EventBudget;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.zmtp.ZmtpLoop;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Follows publishers of other programs over ZeroMQ, on any event plane: a connection for each
 * publisher, and a bounded queue in front of its listener. Safe for concurrent use.
 */
public final class ZmqRawStreams implements RawStreams {
  private static final byte[] EVERYTHING = {};

  private final EventSettings settings;
  private final EventLoops loops;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("raw-zmq-", 0).factory());
  private final Set<RawSubscription> followed = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param loops event loops, which must outlive this object
   */
  public ZmqRawStreams(EventSettings settings, EventLoops loops) {
    this.settings = settings;
    this.loops = loops;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException when this is closed
   */
  @Override
  public RawSubscription follow(
      String what, String endpoint, int frames, Metrics.Counter dropped, Listener listener) {
    requireOpen();
    var loop = ZmtpLoop.of(loops);
    var turns =
        new InTurn(new EventBudget(settings.queueCapacity(), settings.queueBytes()), threads);
    var link =
        PeerLink.ofSubscriber(
            what,
            endpoint,
            EVERYTHING,
            settings.zmqMaxMessageBytes(),
            loop,
            threads,
            new Whole(what, endpoint, frames, dropped, turns, listener),
            new PeerLink.Watcher() {
              @Override
              public void up() {
                turns.add(listener::up);
              }

              @Override
              public void cut() {
                turns.add(listener::cut);
              }
            });
    loop.execute(link::open);
    var following =
        new RawSubscription() {
          @Override
          public void close() {
            if (followed.remove(this)) {
              turns.close();
              loop.execute(link::close);
            }
          }
        };
    followed.add(following);
    if (closed) {
      following.close(); // a concurrent close may have missed it
      requireOpen();
    }
    return following;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the streams are closed");
    }
  }

  /** Passes each message on unchanged. */
  private static final class Whole extends Messages {
    private final InTurn turns;
    private final Listener listener;

    Whole(
        String what,
        String endpoint,
        int frames,
        Metrics.Counter dropped,
        InTurn turns,
        Listener listener) {
      super(what, endpoint, frames, dropped);
      this.turns = turns;
      this.listener = listener;
    }

    @Override
    void receive(byte[][] frames) throws IOException {
      var message = frames.clone();
      int bytes = 0;
      for (var frame : message) {
        bytes += frame.length;
      }
      if (!turns.offer(bytes, () -> deliver(message))) {
        throw new IOException("its listener is too slow");
      }
    }

    private void deliver(byte[][] message) {
      try {
        listener.message(message);
      } catch (IOException e) {
        drop(e.getMessage());
      }
    }
  }

  /** Stops following all publishers. Idempotent. */
  @Override
  public void close() {
    closed = true;
    followed.forEach(RawSubscription::close);
    threads.shutdownNow();
  }
}
