package io.dynamo.transfer.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.testing.TestSettings;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionExchangeContract;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes into exported regions over sockets. */
class TcpRegionExchangeTest extends RegionExchangeContract {
  @Override
  protected HostMemory newMemory() {
    return new JavaHostMemory();
  }

  @Override
  protected TcpRegionExchange newExchange() {
    var settings = TestSettings.defaults();
    return new TcpRegionExchange(settings.tcp(), settings.transfer(), loops);
  }

  private int leases() {
    return ((TcpRegionExchange) owner).leases();
  }

  @Test
  void leasesAreCountedUntilTheyEnd() {
    var first = owner.export(target, LEASE);
    var _ = owner.export(memory.allocate(1), LEASE);
    assertThat(leases()).isEqualTo(2);
    first.close();
    first.close();
    assertThat(leases()).isOne();
  }

  @Test
  void aPeerThatHangsUpOrTalksNonsenseFailsTheTransfer() throws Exception {
    try (var rude = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      var to = new RegionAddress("127.0.0.1", rude.getLocalPort(), 1, new byte[32], SIZE);
      var lost = writer.write(source, SIZE, to, soon());
      rude.accept().close();
      assertThatExceptionOfType(TransferFailedException.class)
          .isThrownBy(() -> lost.await(soon()))
          .satisfies(failure -> assertThat(failure.reason()).isEqualTo(Reason.PEER_LOST));
      var damaged = writer.write(source, SIZE, to, soon());
      try (var talking = rude.accept()) {
        talking.getOutputStream().write(new byte[200]);
        assertThatExceptionOfType(TransferFailedException.class)
            .isThrownBy(() -> damaged.await(soon()))
            .satisfies(failure -> assertThat(failure.reason()).isEqualTo(Reason.CORRUPT));
      }
    }
  }

  /** A connection that sends random bytes is closed and changes nothing in the region. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void strangersWriteNothing(long seed) throws IOException {
    var random = new Random(seed);
    try (var export = owner.export(target, LEASE);
        var socket = new Socket()) {
      var to = export.address();
      socket.setSoTimeout(20_000);
      socket.connect(new InetSocketAddress(to.host(), to.port()));
      var noise = new byte[300];
      random.nextBytes(noise);
      socket.getOutputStream().write(noise);
      assertThat(untilTheEnd(socket)).isLessThanOrEqualTo(RegionFrame.HEADER_BYTES);
    }
    assertThat(bytes(target)).containsOnly(0);
  }

  private static int untilTheEnd(Socket socket) throws IOException {
    try {
      return socket.getInputStream().readAllBytes().length;
    } catch (SocketException reset) {
      return 0; // ended while bytes of ours were on their way
    }
  }

  @Test
  void withoutEventLoopsNothingIsWritten() {
    var export = owner.export(target, LEASE);
    loops.close();
    assertThatThrownBy(() -> write(SIZE, export.address()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("event loops are closed");
  }

  @Test
  void closingEndsLeasesAndTransfers() throws Exception {
    var _ = owner.export(target, LEASE);
    try (var silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      var to = new RegionAddress("127.0.0.1", silent.getLocalPort(), 1, new byte[32], SIZE);
      var waiting = writer.write(source, SIZE, to, soon());
      var _ = silent.accept();
      writer.close();
      assertThatThrownBy(() -> waiting.await(soon())).isInstanceOf(TransferFailedException.class);
    }
    assertThat(leases()).isOne();
    owner.close();
    assertThat(leases()).isZero();
  }
}
