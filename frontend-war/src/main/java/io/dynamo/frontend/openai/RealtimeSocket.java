package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Execution;
import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.openai.wire.RealtimeEvent;
import io.dynamo.frontend.socket.BrokenSocketException;
import io.dynamo.frontend.socket.CloseReason;
import io.dynamo.frontend.socket.PeerWatch;
import io.dynamo.frontend.socket.SocketMessage;
import io.dynamo.frontend.socket.SocketReader;
import io.dynamo.frontend.socket.SocketWriter;
import io.dynamo.frontend.sse.ClientConnection;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of a realtime session: its events, charged to the memory for requests as they
 * arrive, and what is sent to it. One thread reads; any may write. A silent client is pinged, and
 * given up when it stays silent while it is read.
 */
final class RealtimeSocket implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RealtimeSocket.class.getName());

  /** The largest event, as a text. */
  static final int MAX_EVENT = 16 << 20;

  /** The time in which a write that is under way must end for a close to be sent behind it. */
  private static final Duration LAST_WRITE = Duration.ofSeconds(1);

  private static final CloseReason SLOW =
      new CloseReason(CloseReason.POLICY, "a message did not arrive within 60 s");
  static final String MALFORMED = "malformed JSON frame";
  static final String BINARY = "binary frames not supported";

  private final RealtimeSession.Socket socket;
  private final ClientConnection client;
  private final BodyBudget.Share share;
  private final Execution execution;
  private final InputStream in;
  private final SocketReader reader;
  private final SocketWriter writer;
  private final CountDownLatch peer = new CountDownLatch(1);
  private final Future<?> watchdog;
  private long charged; // for the message that is being read; the reading thread's
  private long eventBytes; // of the last event; likewise
  private boolean peerClosed; // likewise
  private volatile boolean heard = true;
  private volatile boolean reading;
  private volatile boolean closing;
  private final AtomicBoolean closed = new AtomicBoolean(); // the connection
  private final PeerWatch peerWatch = new PeerWatch(); // the watchdog's

  RealtimeSocket(
      RealtimeSession.Socket socket,
      ClientConnection client,
      BodyBudget.Share share,
      Execution execution) {
    this.socket = socket;
    this.client = client;
    this.share = share;
    this.execution = execution;
    this.in = new BufferedInputStream(new NotedInput(socket.in()));
    this.reader = new SocketReader(in, MAX_EVENT, this::grows);
    this.writer =
        new SocketWriter(
            socket.out(),
            new SocketWriter.Stall() {
              @Override
              public void begins() {
                client.beginWrite();
              }

              @Override
              public void ends() {
                client.endWrite();
              }
            });
    long silence = RealtimeSession.SILENCE.toNanos();
    this.watchdog =
        execution
            .timer()
            .scheduleWithFixedDelay(this::look, silence, silence, TimeUnit.NANOSECONDS);
  }

  /** Notes that bytes have come. */
  private final class NotedInput extends FilterInputStream {
    NotedInput(InputStream from) {
      super(from);
    }

    @Override
    public int read() throws IOException {
      int value = super.read();
      heard = true;
      return value;
    }

    @Override
    public int read(byte[] into, int at, int count) throws IOException {
      int got = super.read(into, at, count);
      heard = true;
      return got;
    }
  }

  /** Looks after the client; nothing that is thrown may end the looks. */
  private void look() {
    try {
      var verdict = peerWatch.look(heard || !reading, reader.arriving());
      heard = false;
      switch (verdict) {
        case FINE -> {}
        case SILENT -> execution.blocking().execute(this::ping);
        case GONE -> client.lose(ClientConnection.Loss.STALLED);
        case SLOW -> endSoon(SLOW);
      }
    } catch (RuntimeException e) {
      LOG.log(Level.DEBUG, "a client could not be looked after", FailureShape.of(e));
    }
  }

  private void ping() {
    try {
      writer.ping();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "a client could not be pinged", FailureShape.of(e));
    }
  }

  private void grows(int bytes) throws BrokenSocketException {
    try {
      chargeReading(bytes);
    } catch (ApiException e) {
      throw new BrokenSocketException(CloseReason.TRY_AGAIN_LATER, e.error().message());
    }
  }

  private void chargeReading(long bytes) {
    charge(bytes - charged);
    charged = bytes;
  }

  /**
   * Changes what the session is charged for.
   *
   * @throws ApiException with 503 when there is no room
   */
  void charge(long change) {
    share.gather(change);
  }

  /** The bytes of the last event; whoever takes it charges for them. */
  long takeBytes() {
    return eventBytes;
  }

  /**
   * Waits for the client's next event; answers pings meanwhile.
   *
   * @param explain gives the event that is sent for a message which is none; null closes the socket
   *     after one
   * @return null when there will be none: the client has closed the socket, is lost, or broke the
   *     protocol, and the socket is closed with the reason
   */
  @Nullable RealtimeEvent nextEvent(@Nullable Function<SocketMessage, byte[]> explain)
      throws IOException {
    while (true) {
      SocketMessage message;
      try {
        message = awaited();
      } catch (BrokenSocketException broken) {
        chargeReading(0);
        closeQuietly(broken.reason());
        return null;
      }
      switch (message) {
        case SocketMessage.Text text -> {
          var event = read(text.text());
          if (event != null) {
            return event;
          }
          if (explain == null) {
            closeQuietly(new CloseReason(CloseReason.NOT_CONSISTENT, MALFORMED));
            return null;
          }
          send(explain.apply(text));
        }
        case SocketMessage.Binary binary -> {
          chargeReading(0);
          if (explain == null) {
            closeQuietly(new CloseReason(CloseReason.UNSUPPORTED, BINARY));
            return null;
          }
          send(explain.apply(binary));
        }
        case SocketMessage.Ping(var payload) -> unlessClosing(() -> writer.pong(payload));
        case SocketMessage.Pong() -> {}
        case SocketMessage.Close(var reason) -> {
          client.end(); // what it does with its connection now is no loss
          peerClosed = true;
          closeQuietly(reason);
          return null;
        }
        case SocketMessage.Gone() -> {
          if (!closing) {
            client.lose(ClientConnection.Loss.HUNG_UP);
          }
          return null;
        }
      }
    }
  }

  private SocketMessage awaited() throws BrokenSocketException {
    heard = true; // nothing was missed while nobody read
    reading = true;
    try {
      return reader.next();
    } finally {
      reading = false;
    }
  }

  /** Reads an event within the bounds of memory; the charge for its text ends with this. */
  private @Nullable RealtimeEvent read(String text) {
    var cost = new JsonCost();
    cost.addInner(text);
    chargeReading(2L * text.length() + cost.workBytes());
    try {
      var event = RealtimeEvent.read(text);
      eventBytes = cost.keptBytes();
      return event;
    } finally {
      chargeReading(0);
    }
  }

  /**
   * Sends an event.
   *
   * @throws IOException when the client is gone; events after a close are dropped
   */
  void send(byte[] event) throws IOException {
    unlessClosing(() -> writer.text(event));
  }

  private interface Write {
    void run() throws IOException;
  }

  private void unlessClosing(Write write) throws IOException {
    if (!closing) {
      try {
        write.run();
      } catch (IOException e) {
        if (!closing) {
          throw e;
        }
      }
    }
  }

  /** Closes the socket; nothing is sent behind it. */
  void close(CloseReason reason) throws IOException {
    closing = true;
    client.end(); // how it ends its connection is no loss any more
    try (var _ = cutOffAfter(RealtimeSession.LAST_WORDS)) { // another thread may wait in a write
      writer.close(reason);
    }
  }

  /** Closes the socket of a client that may be gone. */
  void closeQuietly(CloseReason reason) {
    try {
      close(reason);
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "a socket could not be closed", FailureShape.of(e));
    }
  }

  /** Whether the socket was closed, by either side. */
  boolean isClosing() {
    return closing;
  }

  /**
   * Ends the connection of a closed socket: at once when both sides have closed it, as clients wait
   * for that; else when the client has, or after a while. A connection that is closed with unread
   * bytes would lose the close on its way.
   */
  void linger() {
    try (var _ = cutOffAfter(RealtimeSession.LAST_WORDS)) {
      while (!peerClosed) {
        var message = reader.next();
        peerClosed =
            message instanceof SocketMessage.Close || message instanceof SocketMessage.Gone;
      }
    } catch (BrokenSocketException e) {
      discard();
    }
    peerEnded();
    cut();
  }

  private void discard() {
    try (var _ = cutOffAfter(RealtimeSession.LAST_WORDS)) {
      var piece = new byte[8 * 1024];
      while (in.read(piece) >= 0) {
        // it is no part of a message any more
      }
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.TRACE, "a connection ended", FailureShape.of(e));
    }
  }

  /** Notes that the client sends nothing any more. */
  void peerEnded() {
    peer.countDown();
  }

  /** Waits until the client sends nothing any more. */
  void awaitPeer(Duration limit) throws InterruptedException {
    try (var _ = cutOffAfter(limit)) {
      boolean _ = peer.await(2 * limit.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private Limit cutOffAfter(Duration time) {
    return limit(time, null);
  }

  /** Closes the socket with {@code reason} unless this is closed before. */
  Limit limit(Duration time, @Nullable CloseReason reason) {
    try {
      var task =
          execution.timer().schedule(() -> endSoon(reason), time.toNanos(), TimeUnit.NANOSECONDS);
      return () -> task.cancel(false);
    } catch (RejectedExecutionException e) { // the server has stopped
      endSoon(null);
      return () -> {};
    }
  }

  /** A time limit; closing it ends it. */
  interface Limit extends AutoCloseable {
    @Override
    void close();
  }

  /** Ends the connection on another thread: the caller's must not wait for the client. */
  void endSoon(@Nullable CloseReason reason) {
    try {
      execution.blocking().execute(() -> end(reason));
    } catch (RejectedExecutionException e) { // the server has stopped
      cut();
    }
  }

  /**
   * Ends the connection.
   *
   * @param reason is sent unless another thread is stuck in a write; null for none
   */
  private void end(@Nullable CloseReason reason) {
    closing = true;
    if (reason != null) {
      client.end();
      try (var _ = cutOffAfter(RealtimeSession.LAST_WORDS)) { // the client may read nothing
        writer.closeWithin(LAST_WRITE, reason);
      }
    }
    cut();
  }

  /** Ends the connection, once. Threads that read or write are woken. */
  private void cut() {
    closing = true;
    if (closed.compareAndSet(false, true)) {
      writer.end();
      socket.closer().run();
    }
  }

  @Override
  public void close() {
    watchdog.cancel(false);
    cut();
  }
}
