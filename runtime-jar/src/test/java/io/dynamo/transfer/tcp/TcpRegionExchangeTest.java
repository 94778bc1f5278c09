package io.dynamo.transfer.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.TestSettings;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests writes into exported regions over sockets. */
class TcpRegionExchangeTest {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final int SIZE = 3 * RegionWriter.PIECE_BYTES + 77;

  private final EventLoops loops = new EventLoops(2);
  private final JavaHostMemory memory = new JavaHostMemory();
  private final TcpRegionExchange owner = exchange();
  private final TcpRegionExchange writer = exchange();
  private final Region source = memory.allocate(SIZE);
  private final Region target = memory.allocate(SIZE);
  private final byte[] data = new byte[SIZE];

  TcpRegionExchangeTest() {
    new Random(6).nextBytes(data);
    source.write(0, ByteBuffer.wrap(data));
  }

  private TcpRegionExchange exchange() {
    var settings = TestSettings.defaults();
    return new TcpRegionExchange(settings.tcp(), settings.transfer(), loops);
  }

  @AfterEach
  void close() {
    writer.close();
    owner.close();
    loops.close();
    memory.close();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  private static byte[] bytes(Region region) {
    var all = ByteBuffer.allocate((int) region.byteSize());
    region.read(0, all);
    return all.array();
  }

  private long write(long byteSize, RegionAddress to) throws InterruptedException {
    return writer.write(source, byteSize, to, soon()).await(soon());
  }

  private void fails(Reason reason, RegionAddress to) {
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> write(SIZE, to))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(reason));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 47, RegionWriter.PIECE_BYTES, SIZE - 1, SIZE})
  void theBytesArriveAndNoOthers(int length) throws Exception {
    try (var export = owner.export(target, LEASE)) {
      assertThat(write(length, export.address())).isEqualTo(length);
    }
    var expected = new byte[SIZE];
    System.arraycopy(data, 0, expected, 0, length);
    assertThat(bytes(target)).isEqualTo(expected);
  }

  @Test
  void manyWritesGoOnAtOnce() throws Exception {
    var exports = new Run[8];
    for (int i = 0; i < exports.length; i++) {
      var region = memory.allocate(SIZE);
      var export = owner.export(region, LEASE);
      exports[i] = new Run(region, writer.write(source, SIZE, export.address(), soon()));
    }
    for (var one : exports) {
      assertThat(one.transfer.await(soon())).isEqualTo(SIZE);
      assertThat(bytes(one.region)).isEqualTo(data);
    }
    assertThat(owner.leases()).isEqualTo(exports.length);
  }

  private record Run(Region region, Transfer transfer) {}

  @Test
  void aLeaseThatIsOverTakesNothing() {
    var closed = owner.export(target, LEASE);
    closed.close();
    closed.close();
    fails(Reason.STALE, closed.address());
    fails(Reason.STALE, owner.export(target, Duration.ofNanos(1)).address());
    assertThat(bytes(target)).containsOnly(0);
  }

  @Test
  void aRegionThatWasClosedTakesNothing() {
    var export = owner.export(target, LEASE);
    target.close();
    fails(Reason.STALE, export.address());
  }

  @Test
  void whoDoesNotKnowTheSecretWritesNothing() {
    try (var export = owner.export(target, LEASE)) {
      var to = export.address();
      var secret = to.secret().clone();
      secret[5] ^= 1;
      fails(
          Reason.UNAUTHENTICATED,
          new RegionAddress(to.host(), to.port(), to.lease(), secret, to.byteSize()));
    }
    assertThat(bytes(target)).containsOnly(0);
  }

  @Test
  void moreThanTheRegionTakesIsRefusedOnBothSides() throws Exception {
    var small = memory.allocate(100);
    try (var export = owner.export(small, LEASE)) {
      var to = export.address();
      assertThatThrownBy(() -> write(SIZE, to)).isInstanceOf(IndexOutOfBoundsException.class);
      var lying = new RegionAddress(to.host(), to.port(), to.lease(), to.secret(), SIZE);
      fails(Reason.RANGE, lying);
    }
    assertThat(bytes(small)).containsOnly(0);
  }

  @Test
  void aPeerThatIsNotThereIsLost() throws Exception {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    fails(Reason.PEER_LOST, new RegionAddress("127.0.0.1", port, 1, new byte[32], SIZE));
  }

  @Test
  void aSilentPeerEndsAtTheDeadlineOrByCancel() throws Exception {
    try (var silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      var to = new RegionAddress("127.0.0.1", silent.getLocalPort(), 1, new byte[32], SIZE);
      var late = Deadline.after(Duration.ofMillis(50));
      assertThatExceptionOfType(DeadlineExceededException.class)
          .isThrownBy(() -> writer.write(source, SIZE, to, late).await(soon()));
      var given = writer.write(source, SIZE, to, soon());
      given.cancel();
      assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    }
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
    var export = owner.export(target, LEASE);
    try (var silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      var to = new RegionAddress("127.0.0.1", silent.getLocalPort(), 1, new byte[32], SIZE);
      var waiting = writer.write(source, SIZE, to, soon());
      var _ = silent.accept();
      writer.close();
      assertThatThrownBy(() -> waiting.await(soon())).isInstanceOf(TransferFailedException.class);
    }
    owner.close();
    assertThat(owner.leases()).isZero();
    assertThatThrownBy(() -> owner.export(target, LEASE)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> write(SIZE, export.address()))
        .isInstanceOf(IllegalStateException.class);
  }
}
