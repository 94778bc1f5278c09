package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.RegionAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SilentPeersTest {
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // and over its end
  private final SilentPeers peers = new SilentPeers(nanos::get);

  private static RegionAddress lease(long lease, int port) {
    return new RegionAddress("127.0.0.1", port, lease, new byte[32], 1);
  }

  @Test
  void aPeerIsRememberedForAllItsLeasesAndForSomeSeconds() {
    peers.add(lease(1, 700));
    assertThat(peers.contains(lease(1, 700))).isTrue();
    assertThat(peers.contains(lease(2, 700))).isTrue();
    assertThat(peers.contains(lease(1, 701))).isFalse();
    nanos.addAndGet(SilentPeers.MEMORY.toNanos() - 1);
    assertThat(peers.contains(lease(1, 700))).isTrue();
    nanos.incrementAndGet();
    assertThat(peers.contains(lease(1, 700))).isFalse();
  }

  @Test
  void itsMemoryIsBounded() {
    for (int port = 1; port <= 2000; port++) {
      peers.add(lease(1, port));
    }
    assertThat(peers.contains(lease(1, 1))).isTrue();
    assertThat(peers.contains(lease(1, 2000))).isFalse();
    nanos.addAndGet(SilentPeers.MEMORY.toNanos());
    peers.add(lease(1, 2000));
    assertThat(peers.contains(lease(1, 2000))).isTrue();
  }
}
