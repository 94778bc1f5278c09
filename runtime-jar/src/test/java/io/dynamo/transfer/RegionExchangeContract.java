package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.json.JsonObject;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.ClosedPort;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every exchange of regions: two of them write into each other's memory. */
public abstract class RegionExchangeContract {
  protected static final Duration LEASE = Duration.ofMinutes(1);
  protected static final int SIZE = (3 << 20) + 77;

  protected final EventLoops loops = new EventLoops(2);
  protected final byte[] data = new byte[SIZE];
  protected HostMemory memory;
  protected RegionExchange owner;
  protected RegionExchange writer;
  protected Region source;
  protected Region target;

  protected abstract HostMemory newMemory();

  protected abstract RegionExchange newExchange();

  @BeforeEach
  void open() {
    new Random(6).nextBytes(data);
    memory = newMemory();
    owner = newExchange();
    writer = newExchange();
    source = memory.allocate(SIZE);
    target = memory.allocateShared(SIZE);
    source.write(0, ByteBuffer.wrap(data));
  }

  @AfterEach
  void close() {
    writer.close();
    owner.close();
    loops.close();
    memory.close();
  }

  protected static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  protected static byte[] bytes(Region region) {
    var all = ByteBuffer.allocate((int) region.byteSize());
    region.read(0, all);
    return all.array();
  }

  protected long write(long byteSize, RegionAddress to) throws InterruptedException {
    return writer.write(source, byteSize, to, soon()).await(soon());
  }

  protected void fails(Reason reason, RegionAddress to) {
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> write(SIZE, to))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(reason));
  }

  private static RegionAddress changed(RegionAddress to, byte[] secret, long byteSize) {
    return new RegionAddress(
        to.host(),
        to.port(),
        to.lease(),
        secret,
        byteSize,
        to.permission(),
        to.sharing(),
        to.ucx());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 47, 4096, 256 * 1024, SIZE - 1, SIZE})
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
    record Run(Region region, Transfer transfer) {}
    var runs = new ArrayList<Run>();
    for (int i = 0; i < 24; i++) {
      var region = memory.allocateShared(SIZE);
      var export = owner.export(region, LEASE);
      runs.add(new Run(region, writer.write(source, SIZE, export.address(), soon())));
    }
    for (var one : runs) {
      assertThat(one.transfer.await(soon())).isEqualTo(SIZE);
      assertThat(bytes(one.region)).isEqualTo(data);
    }
  }

  @Test
  void oneLeaseTakesManyWrites() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      for (byte round = 1; round <= 5; round++) {
        source.write(SIZE - 1, ByteBuffer.wrap(new byte[] {round}));
        write(SIZE, export.address());
        assertThat(bytes(target)).endsWith(round);
      }
    }
    assertThat(bytes(target)).endsWith((byte) 5);
  }

  @Test
  void aRegionStaysUsableAfterItsLease() throws Exception {
    var export = owner.export(target, LEASE);
    write(SIZE, export.address());
    export.close();
    export.close();
    assertThat(bytes(target)).isEqualTo(data);
    target.write(5, ByteBuffer.wrap(new byte[] {99}));
    fails(Reason.STALE, export.address());
    assertThat(bytes(target)).startsWith(data[0], data[1], data[2], data[3], data[4], (byte) 99);
  }

  @Test
  void aLeaseThatIsOverTakesNothing() {
    var closed = owner.export(target, LEASE);
    closed.close();
    fails(Reason.STALE, closed.address());
    var other = memory.allocateShared(SIZE);
    fails(Reason.STALE, owner.export(other, Duration.ofNanos(1)).address());
    assertThat(bytes(target)).containsOnly(0);
    assertThat(bytes(other)).containsOnly(0);
  }

  @Test
  void aRegionThatWasClosedTakesNothing() {
    var export = owner.export(target, LEASE);
    target.close();
    fails(Reason.STALE, export.address());
    export.close();
  }

  @Test
  void aSourceThatWasClosedGivesNothing() {
    try (var export = owner.export(target, LEASE)) {
      source.close();
      fails(Reason.STALE, export.address());
    }
    assertThat(bytes(target)).containsOnly(0);
  }

  @Test
  void wrongSecretWritesNothing() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      var secret = export.address().secret().clone();
      secret[5] ^= 1;
      fails(Reason.UNAUTHENTICATED, changed(export.address(), secret, SIZE));
      assertThat(bytes(target)).containsOnly(0);
      write(1, export.address()); // what is mapped now is of no use without the secret either
      fails(Reason.UNAUTHENTICATED, changed(export.address(), secret, SIZE));
      assertThat(bytes(target)[1]).isZero();
    }
  }

  @Test
  void moreThanTheRegionTakesIsRefusedOnBothSides() {
    var small = memory.allocateShared(100);
    try (var export = owner.export(small, LEASE)) {
      var to = export.address();
      assertThatThrownBy(() -> write(SIZE, to)).isInstanceOf(IndexOutOfBoundsException.class);
      fails(Reason.RANGE, changed(to, to.secret(), SIZE));
      assertThatThrownBy(() -> writer.write(source, SIZE + 1, to, soon()))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> writer.write(source, -1, to, soon()))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(bytes(small)).containsOnly(0);
  }

  @Test
  void aPeerThatIsNotThereIsLost() {
    try (var nobody = new ClosedPort()) {
      var to = new RegionAddress("127.0.0.1", nobody.number(), 1, new byte[32], SIZE);
      fails(Reason.PEER_LOST, to);
    }
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
  void theAddressSurvivesItsMessage() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      var received = RegionAddress.of(JsonObject.of(export.address().toMembers()));
      assertThat(write(SIZE, received)).isEqualTo(SIZE);
    }
    assertThat(bytes(target)).isEqualTo(data);
  }

  @Test
  void aClosedExchangeLendsAndWritesNothing() {
    var export = owner.export(target, LEASE);
    writer.close();
    writer.close();
    assertThatIllegalStateException().isThrownBy(() -> write(SIZE, export.address()));
    owner.close();
    assertThatIllegalStateException().isThrownBy(() -> owner.export(target, LEASE));
    export.close();
    assertThat(bytes(target)).containsOnly(0);
  }
}
