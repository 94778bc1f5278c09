package io.dynamo.frontend.sse;

import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Asks the kernel which clients have closed their end of a connection to us. */
@FunctionalInterface
public interface HungUpPeers {
  /**
   * The clients of connections to {@code localPort} in CLOSE_WAIT, or null when that cannot be told
   * now. Does not wait. Called by one thread at a time.
   */
  @Nullable Set<InetSocketAddress> scan(int localPort);
}
