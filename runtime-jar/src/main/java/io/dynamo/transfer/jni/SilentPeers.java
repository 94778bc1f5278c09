package io.dynamo.transfer.jni;

import io.dynamo.transfer.RegionAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Remembers for some seconds which peers have not answered, so that not every write to them waits
 * for that again. Safe for concurrent use.
 */
final class SilentPeers {
  static final Duration MEMORY = Duration.ofSeconds(10);
  private static final int MAX_PEERS = 1024;

  private record Peer(String host, int port) {
    static Peer of(RegionAddress address) {
      return new Peer(address.host(), address.port());
    }
  }

  private final LongSupplier nanoTime;
  private final Map<Peer, Long> sinceNanos = new ConcurrentHashMap<>();

  SilentPeers(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void add(RegionAddress address) {
    long now = nanoTime.getAsLong();
    sinceNanos.values().removeIf(since -> isOld(since, now));
    if (sinceNanos.size() < MAX_PEERS) { // those beyond wait again
      sinceNanos.put(Peer.of(address), now);
    }
  }

  boolean contains(RegionAddress address) {
    var since = sinceNanos.get(Peer.of(address));
    return since != null && !isOld(since, nanoTime.getAsLong());
  }

  private static boolean isOld(long since, long now) {
    return now - since >= MEMORY.toNanos();
  }
}
