package io.dynamo.natives;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the clients of a TCP server on this host that have closed their side of a connection which
 * the server still has open (state CLOSE_WAIT). For one thread, which scans as often as it likes: a
 * scan is a few system calls, never waits and keeps nothing open in between.
 *
 * <p>A client that reset its connection is not found, and neither is one whose connection ended in
 * a proxy that keeps its own open. Where the library or the kernel's {@code sock_diag} is absent
 * every scan finds {@link #ABSENT} and {@link #cause()} says why; nothing is ever thrown.
 */
public final class ClosedPeers {
  /** The result of a scan that could not be made. */
  public static final int ABSENT = -1;

  private static final int FIRST_CAPACITY = 64;
  private static final int LAST_CAPACITY = 1 << 16;

  private final int localPort;
  private int[] found = new int[FIRST_CAPACITY * NativeTransfer.PEER_INTS];
  private int count;
  private @Nullable String cause;

  /**
   * @param localPort the server's port, 1 to 65535
   */
  public ClosedPeers(int localPort) {
    if (localPort < 1 || localPort > 0xffff) {
      throw new IllegalArgumentException("a TCP port is 1 to 65535, not " + localPort);
    }
    this.localPort = localPort;
  }

  /** Asks the kernel. Returns how many peers there are (of more than 65,536, that many). */
  public int scan() {
    count = 0;
    if (!NativeLibrary.isAvailable()) {
      cause = NativeLibrary.cause();
      return ABSENT;
    }
    var result = NativeTransfer.closedPeers(localPort, found);
    while (result == capacity() && result < LAST_CAPACITY) {
      found = new int[2 * found.length];
      result = NativeTransfer.closedPeers(localPort, found);
    }
    if (result < 0) {
      cause = "the kernel answers no sock_diag request: errno " + -result;
      return ABSENT;
    }
    cause = null;
    count = result;
    return count;
  }

  /** Why the last scan could not be made, or null when it could. */
  public @Nullable String cause() {
    return cause;
  }

  /** The port of a peer that the last scan found. */
  public int remotePort(int index) {
    return found[start(index)];
  }

  /** The address of a peer that the last scan found; an IPv4 one as such, also on IPv6 sockets. */
  public InetAddress remoteAddress(int index) {
    var start = start(index);
    var bytes = ByteBuffer.allocate(16);
    for (var word = 1; word < NativeTransfer.PEER_INTS; word++) {
      bytes.putInt(found[start + word]);
    }
    try {
      return InetAddress.getByAddress(bytes.array()); // unwraps ::ffff:a.b.c.d
    } catch (UnknownHostException e) {
      throw new AssertionError("sixteen bytes are an address", e);
    }
  }

  /** Both of the above. */
  public InetSocketAddress remote(int index) {
    return new InetSocketAddress(remoteAddress(index), remotePort(index));
  }

  private int capacity() {
    return found.length / NativeTransfer.PEER_INTS;
  }

  private int start(int index) {
    if (index < 0 || index >= count) {
      throw new IndexOutOfBoundsException("peer " + index + " of " + count);
    }
    return index * NativeTransfer.PEER_INTS;
  }
}
