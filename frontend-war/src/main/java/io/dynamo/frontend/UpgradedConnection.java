package io.dynamo.frontend;

import jakarta.servlet.http.WebConnection;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A connection that a servlet has taken over, with blocking streams for threads of its own: one
 * that reads, one that writes at a time. Reaches into Open Liberty, which knows such connections
 * with listeners alone: it reads the next request from any other one as soon as the handler's
 * {@code init} returns; and its own close waits for threads that read or write, which wait for ever
 * when the connection is gone.
 */
public final class UpgradedConnection implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(UpgradedConnection.class.getName());
  private static final String LISTENER = "UpgradedListener";
  private static final String UNREAD = "NotUpgradedUnreadData";
  private static final String CLOSED_HERE = "CloseUpgradedWebConnection";
  private static final String CHANNEL = "getSocketIOChannel";
  private static final int MAX_LINKS = 4; // TLS and TCP, and room for more
  private static final Duration LEAVE = Duration.ofSeconds(5);

  private final WebConnection connection;
  private final Ending ending;
  private final Socket socket;
  private final Input input;
  private final Output output;
  private final AtomicBoolean closing = new AtomicBoolean();

  /** Ends the connection below the container's streams, which leave it open. */
  private interface Ending {
    void end() throws ReflectiveOperationException;
  }

  private UpgradedConnection(WebConnection connection, Ending ending, Socket socket, byte[] unread)
      throws IOException {
    this.connection = connection;
    this.ending = ending;
    this.socket = socket;
    this.input = new Input(connection.getInputStream(), unread);
    this.output = new Output(connection.getOutputStream());
  }

  /**
   * Takes a connection from the container. To be called by {@code init} of its handler.
   *
   * @throws IOException when the container is another one than this class knows; the connection
   *     ends when {@code init} returns
   */
  public static UpgradedConnection take(WebConnection connection) throws IOException {
    try {
      var virtual = ContainerInternals.call(connection, "getVirtualConnection");
      var states = states(virtual);
      var socket = socket(ContainerInternals.call(connection, "getTCPConnectionContext"));
      var link = ContainerInternals.field(connection, "dispatcherLink");
      var close = ContainerInternals.method(link, "close", 2);
      Ending ending =
          () -> {
            states.put(CLOSED_HERE, "true");
            close.invoke(link, virtual, null);
          };
      var unread = unread(states.remove(UNREAD));
      var taken = new UpgradedConnection(connection, ending, socket, unread);
      states.put(LISTENER, "true");
      return taken;
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new IOException("this server's connections cannot be taken over", e);
    }
  }

  @SuppressWarnings("unchecked") // the container's own map from texts
  private static Map<Object, Object> states(Object virtual) throws ReflectiveOperationException {
    return (Map<Object, Object>) ContainerInternals.call(virtual, "getStateMap");
  }

  /** The bytes that came right behind the request, which the container has read. */
  private static byte[] unread(@Nullable Object buffer) throws ReflectiveOperationException {
    if (buffer == null || buffer instanceof String) {
      return new byte[0];
    }
    var bytes = new byte[(int) ContainerInternals.call(buffer, "remaining")];
    buffer.getClass().getMethod("get", byte[].class).invoke(buffer, (Object) bytes);
    ContainerInternals.call(buffer, "release");
    return bytes;
  }

  /**
   * The socket of a connection.
   *
   * @param context the container's object for TCP, or the one for TLS that is stacked on it
   */
  static Socket socket(Object context) throws ReflectiveOperationException {
    var link = context;
    for (int depth = 0; depth < MAX_LINKS; depth++) {
      if (ContainerInternals.has(link, CHANNEL, 0)) {
        return (Socket)
            ContainerInternals.call(ContainerInternals.call(link, CHANNEL), "getSocket");
      }
      link = ContainerInternals.call(link, "getDeviceLink");
    }
    throw new NoSuchMethodException(context.getClass().getName() + "." + CHANNEL);
  }

  public InputStream input() {
    return input;
  }

  public OutputStream output() {
    return output;
  }

  /** Ends the connection, for which threads that read or write are woken. Idempotent. */
  @Override
  public void close() {
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    input.use.shut();
    boolean writing = output.use.shut();
    wake(writing);
    if (!input.use.awaitLeft(LEAVE) || !output.use.awaitLeft(LEAVE)) {
      LOG.log(Level.WARNING, "a thread did not leave a connection that was ended");
      return; // the container's close would wait for it
    }
    try {
      connection.close();
      ending.end();
    } catch (Exception e) { // as the interface declares it
      LOG.log(Level.DEBUG, "an upgraded connection was not closed", e);
    }
  }

  private void wake(boolean writing) {
    try {
      socket.shutdownInput();
      if (writing) { // else TLS still says its last word
        socket.shutdownOutput();
      }
    } catch (IOException e) {
      LOG.log(Level.TRACE, "a connection had ended", e);
    }
  }

  /** The bytes of the client, which end when the connection is closed. */
  private static final class Input extends InputStream {
    private final InputStream in;
    private final Occupancy use = new Occupancy();
    private byte[] unread;

    Input(InputStream in, byte[] unread) {
      this.in = in;
      this.unread = unread;
    }

    @Override
    public int read() throws IOException {
      var single = new byte[1];
      return read(single, 0, 1) < 0 ? -1 : single[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int at, int count) throws IOException {
      if (unread.length > 0) {
        int size = Math.min(count, unread.length);
        System.arraycopy(unread, 0, into, at, size);
        unread = Arrays.copyOfRange(unread, size, unread.length);
        return size;
      }
      if (!use.enter()) {
        return -1;
      }
      try {
        return in.read(into, at, count);
      } finally {
        use.leave();
      }
    }
  }

  /** The way to the client. */
  private static final class Output extends OutputStream {
    private final OutputStream out;
    private final Occupancy use = new Occupancy();

    Output(OutputStream out) {
      this.out = out;
    }

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int at, int count) throws IOException {
      enter();
      try {
        out.write(bytes, at, count);
      } finally {
        use.leave();
      }
    }

    @Override
    public void flush() throws IOException {
      enter();
      try {
        out.flush();
      } finally {
        use.leave();
      }
    }

    private void enter() throws IOException {
      if (!use.enter()) {
        throw new IOException("the connection was closed");
      }
    }
  }
}
