package io.dynamo.frontend.media;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;

/** Looks up the addresses of hosts. Safe for concurrent use; callers wait. */
@FunctionalInterface
interface HostResolver {
  /**
   * Returns the addresses of a name or of an address literal; empty when there are none, or no
   * answer within {@code limit}.
   *
   * @throws InterruptedException when the caller is interrupted
   * @throws MediaException when too many others are looked up
   */
  List<InetAddress> resolve(String host, Duration limit)
      throws InterruptedException, MediaException;
}
