package io.dynamo.natives;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Tells which clients of TCP connections that this host has open are gone. For one thread, which
 * asks as often as it likes: an answer costs a few microseconds and one more for each connection,
 * never waits and keeps nothing open in between.
 *
 * <p>A client whose connection ended in a proxy that keeps its own open is not seen to go. Where
 * the library or the kernel's {@code sock_diag} is absent, {@link #ask} says so and {@link
 * #cause()} why; nothing is ever thrown.
 */
public final class PeerStates {
  /** What the kernel says of a connection. */
  public enum State {
    OPEN,
    /** The client closed its side; ours is open (CLOSE_WAIT). */
    CLOSED,
    /** No such connection: reset by the client, closed by both, or never one of this host. */
    UNKNOWN
  }

  /** Both ends of a connection as the kernel knows them. Immutable. */
  public static final class Connection {
    private final int[] ends = new int[NativeTransfer.CONNECTION_INTS];

    /**
     * @param local this host's end
     * @throws IllegalArgumentException when a name was not resolved
     */
    public Connection(InetSocketAddress local, InetSocketAddress remote) {
      ends[0] = local.getPort() << 16 | remote.getPort();
      put(local, 1);
      put(remote, 5);
      // a link-local connection is one of its interface only
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

  private static final State[] STATES = State.values();

  private int[] asked = new int[64 * NativeTransfer.CONNECTION_INTS];
  private byte[] states = new byte[64];
  private int count;
  private @Nullable String cause;

  /** Forgets what was asked. */
  public void clear() {
    count = 0;
  }

  /** One more to ask for; its state will be found under the number of those before it. */
  public void add(Connection connection) {
    if (count == states.length) {
      asked = Arrays.copyOf(asked, 2 * asked.length);
      states = new byte[2 * count];
    }
    int ints = NativeTransfer.CONNECTION_INTS;
    System.arraycopy(connection.ends, 0, asked, count * ints, ints);
    count++;
  }

  /** Asks the kernel. False when it could not be asked: the states are not known then. */
  public boolean ask() {
    if (!NativeLibrary.isAvailable()) {
      cause = NativeLibrary.cause();
      return false;
    }
    int error = NativeTransfer.peerStates(asked, count, states);
    cause = error == 0 ? null : "the kernel answers no sock_diag request: errno " + error;
    return error == 0;
  }

  /** Why the kernel could not be asked the last time, or null when it could. */
  public @Nullable String cause() {
    return cause;
  }

  /** The state that the last {@link #ask} found. */
  public State state(int index) {
    if (index < 0 || index >= count) {
      throw new IndexOutOfBoundsException("connection " + index + " of " + count);
    }
    return STATES[states[index]];
  }
}
