package io.dynamo.transfer.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.testing.TestSettings;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionReadContract;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Reads of exported regions over sockets. */
class TcpRegionReadTest extends RegionReadContract {
  @Override
  protected HostMemory newMemory() {
    return new JavaHostMemory();
  }

  @Override
  protected TcpRegionExchange newExchange() {
    var settings = TestSettings.defaults();
    return new TcpRegionExchange(settings.tcp(), settings.transfer(), loops);
  }

  @Test
  void aPeerThatHangsUpOrTalksNonsenseFailsTheRead() throws Exception {
    try (var rude = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      var from = stranger(rude.getLocalPort());
      var lost = start(from);
      rude.accept().close();
      fails(Reason.PEER_LOST, lost);
      var damaged = start(from);
      try (var talking = rude.accept()) {
        talking.getOutputStream().write(new byte[200]);
        fails(Reason.CORRUPT, damaged);
      }
    }
  }

  /** The monitor is held while an export binds the listener. */
  @Test
  void readsDoNotWaitForABind() throws Exception {
    var binding = reader;
    try (var export = lend()) {
      synchronized (binding) {
        var reading = CompletableFuture.supplyAsync(() -> start(export.address()));
        assertThat(reading.get(20, TimeUnit.SECONDS).await(soon())).isEqualTo(SIZE);
      }
    }
    assertThat(bytes(target)).isEqualTo(data);
  }

  @Test
  void closingEndsReads() throws Exception {
    try (var silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      var waiting = start(stranger(silent.getLocalPort()));
      var _ = silent.accept();
      reader.close();
      assertThatThrownBy(() -> waiting.await(soon())).isInstanceOf(TransferFailedException.class);
    }
  }
}
