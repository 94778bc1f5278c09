package io.dynamo.frontend.sse;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Asks the kernel which clients have gone. */
@FunctionalInterface
public interface HungUpPeers {
  /** What the kernel knows of a connection to a client. */
  enum Peer {
    OPEN,
    /** The client closed its side. */
    CLOSED,
    /** No such connection: the client reset it, or the kernel knows it by other addresses. */
    UNKNOWN
  }

  /**
   * What became of each connection, in their order; null when that cannot be told now. Does not
   * wait. Called by one thread at a time.
   */
  @Nullable List<Peer> look(List<ClientConnection> connections);
}
