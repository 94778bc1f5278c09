package io.dynamo.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A port of loopback that refuses connections. It stays bound, without a listener, until it is
 * closed: nobody else can listen there meanwhile, as on a port that was bound and given back.
 */
public final class ClosedPort implements AutoCloseable {
  private final Socket holder = new Socket();

  /** Takes a free port. */
  public ClosedPort() {
    try {
      holder.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public int number() {
    return holder.getLocalPort();
  }

  @Override
  public void close() {
    try {
      holder.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
