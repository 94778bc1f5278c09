package io.dynamo.event.zmq;

import io.dynamo.pipeline.zmtp.ZmtpConnection;
import io.dynamo.pipeline.zmtp.ZmtpListener;
import io.dynamo.pipeline.zmtp.ZmtpLoop;
import io.dynamo.pipeline.zmtp.ZmtpPublisher;
import io.dynamo.pipeline.zmtp.ZmtpSubscriber;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a connection to one endpoint until closed: a lost connection is dialled again after a pause
 * that grows with each failure, and one that broke the protocol after a longer pause. Used by the
 * loop's thread only.
 */
final class PeerLink {
  private static final System.Logger LOG = System.getLogger(PeerLink.class.getName());
  private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final Duration VIOLATION_PAUSE = Duration.ofSeconds(3);
  private static final Duration CUT_AFTER = Duration.ofSeconds(3);
  private static final Duration LAST_WORDS = Duration.ofSeconds(1);

  /** Receives messages as they arrive; the frames are valid during the call only. */
  interface Taker {
    void arrived(byte[][] frames, int count);
  }

  /** Opens one connection. */
  interface Dialer {
    ZmtpConnection dial(InetSocketAddress address, ZmtpListener listener);
  }

  /** Called on the loop's thread when the link is up, down or cut. */
  interface Watcher {
    /** The connection is up, for the first time or again. */
    void up();

    /** The connection is lost; it may be up again in a moment. */
    default void down() {}

    /**
     * Called once when the connection has been lost for a while; not again until it has been up.
     */
    void cut();
  }

  private final String what;
  private final String endpoint;
  private final ZmtpLoop loop;
  private final Executor threads;
  private final Dialer dialer;
  private final Taker taker;
  private final Watcher watcher;
  private @Nullable ZmtpConnection connection; // connected or connecting
  private Duration pause = FIRST_PAUSE;
  private int changes; // number of changes between up and down; identifies one outage
  private boolean linked;
  private long upNanos; // time when the link came up
  private boolean cut;
  private boolean complained;
  private boolean closed;
  private @Nullable Runnable finished;

  /**
   * @param what description of the peer, for the log
   */
  private PeerLink(
      String what,
      String endpoint,
      ZmtpLoop loop,
      Executor threads,
      Dialer dialer,
      Taker taker,
      Watcher watcher) {
    this.what = what;
    this.endpoint = endpoint;
    this.loop = loop;
    this.threads = threads;
    this.dialer = dialer;
    this.taker = taker;
    this.watcher = watcher;
  }

  /**
   * Creates a link that receives messages.
   *
   * @param prefix subscription prefix, matched against the first frame
   * @param threads runs lookups of host names
   */
  static PeerLink ofSubscriber(
      String what,
      String endpoint,
      byte[] prefix,
      int maxFrameBytes,
      ZmtpLoop loop,
      Executor threads,
      Messages messages,
      Watcher watcher) {
    return new PeerLink(
        what,
        endpoint,
        loop,
        threads,
        (address, listener) ->
            ZmtpSubscriber.connect(
                loop, address, prefix, messages.frames(), maxFrameBytes, listener),
        messages::arrived,
        watcher);
  }

  /**
   * Creates a link on which {@code publisher} sends.
   *
   * @param threads runs lookups of host names
   */
  static PeerLink ofPublisher(
      String what, String endpoint, ZmtpLoop loop, Executor threads, ZmtpPublisher publisher) {
    return new PeerLink(
        what,
        endpoint,
        loop,
        threads,
        (address, listener) -> publisher.connect(loop, address, listener),
        (_, _) -> {},
        new Watcher() {
          @Override
          public void up() {}

          @Override
          public void cut() {}
        });
  }

  String endpoint() {
    return endpoint;
  }

  /** Resolves the host and connects; repeats until that succeeds or the link is closed. */
  void open() {
    awaitLink();
    PeerAddress address;
    try {
      address = PeerAddress.parse(endpoint);
    } catch (IllegalArgumentException e) {
      complain(e.getMessage()); // permanent: the endpoint itself is malformed
      return;
    }
    look(address);
  }

  private void look(PeerAddress address) {
    if (closed) {
      return;
    }
    if (address.isLiteral()) {
      connect(address, address.resolved());
      return;
    }
    // not on the loop's thread: a lookup may take long
    try {
      threads.execute(() -> lookUp(address));
    } catch (RejectedExecutionException _) {
      closed = true; // the plane is closing
    }
  }

  private void lookUp(PeerAddress address) {
    try {
      var resolved = address.resolved();
      loop.execute(() -> connect(address, resolved));
    } catch (IllegalArgumentException e) {
      loop.execute(
          () -> {
            complain(e.getMessage());
            again(address, nextPause());
          });
    }
  }

  private void connect(PeerAddress address, InetSocketAddress resolved) {
    if (!closed) { // closed meanwhile
      connection = dialer.dial(resolved, new ConnectionListener(address));
    }
  }

  private void again(PeerAddress address, Duration after) {
    loop.executeAfter(after, () -> look(address));
  }

  private Duration nextPause() {
    var next = pause;
    var doubled = pause.multipliedBy(2);
    pause = doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
    return next;
  }

  /** Forwards the callbacks of one connection while it is the current one. */
  private final class ConnectionListener implements ZmtpListener {
    private final PeerAddress address;

    ConnectionListener(PeerAddress address) {
      this.address = address;
    }

    @Override
    public void up() {
      if (closed) {
        return;
      }
      linked = true;
      changes++;
      cut = false;
      upNanos = System.nanoTime();
      watcher.up();
    }

    @Override
    public void message(byte[][] frames, int count) {
      if (!closed) {
        taker.arrived(frames, count);
      }
    }

    @Override
    public void ended(@Nullable String violation) {
      connection = null;
      if (closed || finished != null) {
        end();
        return;
      }
      if (violation != null) {
        complain(violation);
      }
      if (linked) {
        linked = false;
        if (System.nanoTime() - upNanos > LONGEST_PAUSE.toNanos()) {
          pause = FIRST_PAUSE; // a connection that goes down right after coming up does not count
        }
        awaitLink();
        watcher.down();
      }
      again(address, violation == null ? nextPause() : VIOLATION_PAUSE);
    }
  }

  /** Reports the link as cut unless it is up in time. */
  private void awaitLink() {
    int outage = ++changes;
    loop.executeAfter(
        CUT_AFTER,
        () -> {
          if (changes == outage && !cut && !closed) {
            cut = true;
            watcher.cut();
          }
        });
  }

  /** Logs once that the endpoint cannot be reached. */
  private void complain(@Nullable String why) {
    if (!complained) {
      complained = true;
      LOG.log(Level.WARNING, "{0} cannot be reached at {1}: {2}", what, endpoint, why);
    }
  }

  /**
   * Closes the link when the peer does, or after a short time: messages that have already arrived
   * are still delivered.
   *
   * @param then run once at the end, on the loop
   */
  void finish(Runnable then) {
    finished = then;
    var open = connection;
    if (open != null && linked) {
      open.finish(LAST_WORDS);
    } else {
      close();
    }
  }

  /** Closes at once. Idempotent. */
  void close() {
    var open = connection;
    connection = null;
    end();
    if (open != null) {
      open.close();
    }
  }

  private void end() {
    closed = true;
    var then = finished;
    finished = null;
    if (then != null) {
      then.run();
    }
  }
}
