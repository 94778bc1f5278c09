package io.dynamo.natives;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Detects which peers hang up, of TCP connections that other code of this process has open: their
 * sockets are found by their addresses, and an epoll for hang-ups only watches them. Traffic on the
 * connections costs nothing, nor does a request whose connection is known.
 *
 * <p>{@link #watch}, {@link #await} and {@link #close} are for one thread; {@link #wake} may be
 * called by any. When a proxy keeps its own connection open, the end of a client's connection to
 * the proxy is not detected.
 */
public final class HangUps implements AutoCloseable {
  /**
   * The number of ints that describe a connection to the kernel: the local port above the remote
   * one, the two addresses of four ints each, and the interface of link-local ones.
   */
  static final int CONNECTION_INTS = 10;

  private static final int ROOM = 64;

  /** Both ends of a connection as the kernel knows them. Immutable. */
  public static final class Connection {
    private final int[] ends = new int[CONNECTION_INTS];

    /**
     * @param local this host's end
     * @throws IllegalArgumentException when an address is unresolved
     */
    public Connection(InetSocketAddress local, InetSocketAddress remote) {
      ends[0] = local.getPort() << 16 | remote.getPort();
      put(local, 1);
      put(remote, 5);
      // a link-local connection belongs to one interface only
      ends[9] = Math.max(scope(local), scope(remote));
    }

    private static int scope(InetSocketAddress end) {
      return end.getAddress() instanceof Inet6Address address ? address.getScopeId() : 0;
    }

    private void put(InetSocketAddress end, int from) {
      var address = end.getAddress();
      if (address == null) {
        throw new IllegalArgumentException("no address is known of " + end);
      }
      var bytes = ByteBuffer.allocate(16);
      if (address instanceof Inet4Address) {
        bytes.position(10).putShort((short) -1);
      }
      bytes.put(address.getAddress()).rewind();
      bytes.asIntBuffer().get(ends, from, 4);
    }
  }

  /**
   * A connection to watch.
   *
   * @param id reported when its peer hangs up; above 0
   */
  public record WatchedConnection(long id, Connection connection) {
    public WatchedConnection {
      if (id <= 0) {
        throw new IllegalArgumentException("the id is %d; it must be above 0".formatted(id));
      }
    }
  }

  private final long handle;
  private final long[] gone = new long[ROOM];
  private boolean closed; // guarded by this

  private HangUps(long handle) {
    this.handle = handle;
  }

  /**
   * Opens an epoll.
   *
   * @throws IOException when the native library is absent or the kernel has no descriptors left
   */
  public static HangUps opened() throws IOException {
    if (!NativeLibrary.isAvailable()) {
      throw new IOException("no native library: " + NativeLibrary.cause());
    }
    long handle = open();
    if (handle < 0) {
      throw new IOException("the kernel opens no epoll: errno " + -handle);
    }
    return new HangUps(handle);
  }

  /**
   * Watches connections: each id is reported once, when its peer closes its side or resets the
   * connection, also if it has done so before. Replaces an earlier watch of the same connection.
   * Searches the process's descriptors when a connection is new, once for all of a call: about a
   * microsecond per descriptor.
   *
   * @return how many of the connections were found among those of this process
   */
  public int watch(List<WatchedConnection> arrived) {
    var connections = new int[arrived.size() * CONNECTION_INTS];
    var ids = new long[arrived.size()];
    for (int i = 0; i < ids.length; i++) {
      var one = arrived.get(i);
      System.arraycopy(one.connection.ends, 0, connections, i * CONNECTION_INTS, CONNECTION_INTS);
      ids[i] = one.id;
    }
    return checked(watch(handle, connections, ids, ids.length));
  }

  /**
   * Waits until a peer hangs up, a {@link #wake}, or {@code atMost} has passed, and reports the ids
   * of peers that hung up.
   */
  public void await(Duration atMost, LongConsumer hungUp) {
    // rounded up: a wait of less than a millisecond would be 0
    long millis = Math.min(Integer.MAX_VALUE, atMost.plusNanos(999_999).toMillis());
    int count = checked(await(handle, (int) Math.max(0, millis), gone));
    for (int i = 0; i < count; i++) {
      hungUp.accept(gone[i]);
    }
  }

  private static int checked(int result) {
    if (result < 0) {
      throw new IllegalStateException("the kernel does not tell who hangs up: errno " + -result);
    }
    return result;
  }

  /** Ends the current wait, or else the next one. Does nothing after {@link #close}. */
  public synchronized void wake() {
    if (!closed) {
      wake(handle);
    }
  }

  /** Closes the epoll. Idempotent. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      close(handle);
    }
  }

  private static native long open();

  private static native int watch(long handle, int[] connections, long[] ids, int count);

  private static native int await(long handle, int timeoutMillis, long[] ids);

  private static native void wake(long handle);

  private static native void close(long handle);
}
