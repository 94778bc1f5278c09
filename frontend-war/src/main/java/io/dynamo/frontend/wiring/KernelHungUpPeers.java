package io.dynamo.frontend.wiring;

import io.dynamo.frontend.sse.HungUpPeers;
import io.dynamo.natives.ClosedPeers;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Clients that hung up, from the kernel's {@code sock_diag}. For one thread at a time. */
final class KernelHungUpPeers implements HungUpPeers {
  private static final int MAX_PORTS = 16; // ports of this server that requests come in on

  private final Map<Integer, ClosedPeers> scanners = new HashMap<>();

  @Override
  public @Nullable Set<InetSocketAddress> scan(int localPort) {
    if (scanners.size() >= MAX_PORTS && !scanners.containsKey(localPort)) {
      return null;
    }
    var peers = scanners.computeIfAbsent(localPort, ClosedPeers::new);
    int count = peers.scan();
    if (count < 0) {
      return null;
    }
    if (count == 0) {
      return Set.of();
    }
    var gone = HashSet.<InetSocketAddress>newHashSet(count);
    for (int i = 0; i < count; i++) {
      gone.add(peers.remote(i));
    }
    return gone;
  }
}
