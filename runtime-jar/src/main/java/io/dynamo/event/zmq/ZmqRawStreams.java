package io.dynamo.event.zmq;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.event.EventBudget;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.zmtp.ZmtpListener;
import io.dynamo.pipeline.zmtp.ZmtpLoop;
import io.dynamo.pipeline.zmtp.ZmtpPuller;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Hears other programs over ZeroMQ, on any event plane: a connection for each publisher that is
 * followed, an address for those that push, and a bounded queue in front of each listener. Safe for
 * concurrent use.
 */
public final class ZmqRawStreams implements RawStreams {
  private static final byte[] EVERYTHING = {};
  private static final int MAX_PUSHING = 64; // programs connected to one address
  private static final int MAX_PUSHED = 1024; // messages that wait for its listener
  private static final int MAX_PUSHED_BYTES = 8 << 20;

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
    return kept(turns, () -> loop.execute(link::close));
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException when this is closed, too
   */
  @Override
  public RawSubscription pull(
      String what,
      InetSocketAddress address,
      int frames,
      int maxFrameBytes,
      Metrics.Counter dropped,
      Listener listener) {
    requireOpen();
    var turns = new InTurn(new EventBudget(MAX_PUSHED, MAX_PUSHED_BYTES), threads);
    var messages =
        new Whole(
            what,
            "a program at %s:%d".formatted(address.getHostString(), address.getPort()),
            frames,
            dropped,
            turns,
            listener);
    var puller =
        ZmtpPuller.bind(
            loops, address, MAX_PUSHING, frames, maxFrameBytes, () -> new Pushed(messages));
    return kept(turns, puller::close);
  }

  private RawSubscription kept(InTurn turns, Runnable end) {
    var kept =
        new RawSubscription() {
          @Override
          public void close() {
            if (followed.remove(this)) {
              turns.close();
              end.run();
            }
          }
        };
    followed.add(kept);
    if (closed) {
      kept.close(); // a concurrent close may have missed it
      requireOpen();
    }
    return kept;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the streams are closed");
    }
  }

  /** Passes on what one program pushes. */
  private record Pushed(Whole messages) implements ZmtpListener {
    @Override
    public void up() {
      // its messages tell of it
    }

    @Override
    public void message(byte[][] frames, int count) {
      messages.arrived(frames, count);
    }

    @Override
    public void ended(@Nullable String violation) {
      if (violation != null) {
        messages.drop("a connection with " + violation);
      }
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

  /** Stops following all publishers, and pulling. Idempotent. */
  @Override
  public void close() {
    closed = true;
    followed.forEach(RawSubscription::close);
    threads.shutdownNow();
  }
}
