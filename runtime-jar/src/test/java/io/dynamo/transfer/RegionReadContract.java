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
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange.Export;
import io.dynamo.transfer.RegionExchange.Range;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every exchange of regions: one of them reads memory that the other lends. */
public abstract class RegionReadContract {
  protected static final Duration LEASE = Duration.ofMinutes(1);
  protected static final int SIZE = (3 << 20) + 77;
  private static final byte UNTOUCHED = 0x5a;

  protected final EventLoops loops = new EventLoops(2);
  protected final byte[] data = new byte[SIZE];
  protected HostMemory memory;
  protected RegionExchange owner;
  protected RegionExchange reader;
  protected Region source;
  protected Region target;

  protected abstract HostMemory newMemory();

  protected abstract RegionExchange newExchange();

  @BeforeEach
  void open() {
    new Random(6).nextBytes(data);
    memory = newMemory();
    owner = newExchange();
    reader = newExchange();
    source = memory.allocateShared(SIZE);
    target = memory.allocate(SIZE);
    source.write(0, ByteBuffer.wrap(data));
    target.write(0, ByteBuffer.wrap(untouched()));
  }

  @AfterEach
  void close() {
    reader.close();
    owner.close();
    loops.close();
    memory.close();
  }

  protected static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  protected static byte[] untouched() {
    var bytes = new byte[SIZE];
    Arrays.fill(bytes, UNTOUCHED);
    return bytes;
  }

  protected static byte[] bytes(Region region) {
    var all = ByteBuffer.allocate((int) region.byteSize());
    region.read(0, all);
    return all.array();
  }

  protected Export lend() {
    return owner.export(source, Permission.READ, LEASE);
  }

  protected Transfer start(RegionAddress from) {
    return reader.read(from, new Range(0, 0, SIZE), target, soon());
  }

  protected long read(RegionAddress from) throws InterruptedException {
    return start(from).await(soon());
  }

  protected static void fails(Reason reason, Transfer transfer) {
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> transfer.await(soon()))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(reason));
  }

  private static RegionAddress changed(RegionAddress to, byte[] secret, long byteSize) {
    return with(to, secret, byteSize, to.permission());
  }

  private static RegionAddress with(
      RegionAddress to, byte[] secret, long byteSize, Permission permission) {
    return new RegionAddress(
        to.host(), to.port(), to.lease(), secret, byteSize, permission, to.sharing(), to.ucx());
  }

  /** Ranges of all sizes and at all places agree with a copy by loops; others stay untouched. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void rangesAgreeWithACopyByLoops(long seed) throws Exception {
    var random = new Random(seed);
    var expected = untouched();
    try (var export = lend()) {
      for (int round = 0; round < 20; round++) {
        int length = random.nextInt(1 + (SIZE >> random.nextInt(22)));
        int from = random.nextInt(SIZE - length + 1);
        int to = random.nextInt(SIZE - length + 1);
        var transfer = reader.read(export.address(), new Range(from, to, length), target, soon());
        assertThat(transfer.await(soon())).isEqualTo(length);
        for (int i = 0; i < length; i++) {
          expected[to + i] = data[from + i];
        }
        assertThat(bytes(target)).isEqualTo(expected);
      }
    }
    assertThat(bytes(source)).isEqualTo(data);
  }

  @Test
  void manyReadsOfALeaseGoOnAtOnce() throws Exception {
    record Run(Region region, Transfer transfer) {}
    var runs = new ArrayList<Run>();
    try (var export = lend()) {
      for (int i = 0; i < 24; i++) {
        var region = memory.allocate(SIZE);
        var range = new Range(0, 0, SIZE);
        runs.add(new Run(region, reader.read(export.address(), range, region, soon())));
      }
      for (var one : runs) {
        assertThat(one.transfer.await(soon())).isEqualTo(SIZE);
        assertThat(bytes(one.region)).isEqualTo(data);
      }
    }
  }

  /** A lease shows the region as it is, with what its owner has written meanwhile. */
  @Test
  void readsSeeWhatTheOwnerWrites() throws Exception {
    try (var export = lend()) {
      for (byte round = 1; round <= 5; round++) {
        source.write(SIZE - 1, ByteBuffer.wrap(new byte[] {round}));
        read(export.address());
        assertThat(bytes(target)).endsWith(round);
      }
    }
  }

  /** Two leases of one region end apart: the other one goes on, and shows what is written. */
  @Test
  void theEndOfALeaseLeavesAnotherOfTheSameRegion() throws Exception {
    try (var second = lend()) {
      var first = lend();
      read(first.address());
      read(second.address());
      first.close();
      source.write(0, ByteBuffer.wrap(new byte[] {42}));
      read(second.address());
      assertThat(bytes(target)).startsWith(42);
      fails(Reason.STALE, start(first.address()));
    }
  }

  @Test
  void theEarlierLeaseOfARegionMayEndLater() throws Exception {
    var first = lend();
    read(first.address());
    try (var second = lend()) {
      read(second.address());
      first.close();
      source.write(0, ByteBuffer.wrap(new byte[] {42}));
      read(second.address());
      assertThat(bytes(target)).startsWith(42);
    }
  }

  @Test
  void aRegionIsReusedAfterItsLeaseAndNobodyReadsThat() throws Exception {
    var export = lend();
    read(export.address());
    export.close();
    export.close();
    target.write(0, ByteBuffer.wrap(untouched()));
    source.write(0, ByteBuffer.wrap(new byte[SIZE]));
    fails(Reason.STALE, start(export.address()));
    assertThat(bytes(target)).isEqualTo(untouched());
    assertThat(bytes(source)).containsOnly(0);
    try (var again = lend()) {
      read(again.address());
      assertThat(bytes(target)).containsOnly(0);
    }
  }

  /** Reads at the end of a lease have its bytes or fail; those of the next use are never read. */
  @Test
  void readsThatOverlapTheEndHaveNoForeignBytes() throws Exception {
    int completed = 0;
    int rounds = 25;
    for (int round = 0; round < rounds; round++) {
      source.write(0, ByteBuffer.wrap(data));
      var export = lend();
      if (round % 2 == 0) {
        read(export.address()); // else the first read maps it
      }
      target.write(0, ByteBuffer.wrap(untouched()));
      var running = start(export.address());
      if (round == rounds - 1) {
        running.await(soon()); // the one that certainly completes
      } else {
        LockSupport.parkNanos((1L << round) - 1); // up to 8 ms
      }
      export.close();
      source.write(0, ByteBuffer.wrap(new byte[SIZE]));
      try {
        assertThat(running.await(soon())).isEqualTo(SIZE);
        assertThat(bytes(target)).isEqualTo(data);
        completed++;
      } catch (TransferFailedException over) {
        assertThat(over.reason()).isEqualTo(Reason.STALE);
      }
      source.close();
      source = memory.allocateShared(SIZE);
    }
    assertThat(completed).isPositive().as("some are cut").isLessThan(rounds);
  }

  @Test
  void aLeaseThatIsOverGivesNothing() {
    var closed = lend();
    closed.close();
    fails(Reason.STALE, start(closed.address()));
    var short1 = owner.export(memory.allocateShared(SIZE), Permission.READ, Duration.ofNanos(1));
    fails(Reason.STALE, start(short1.address()));
    assertThat(bytes(target)).isEqualTo(untouched());
  }

  @Test
  void aSourceThatWasClosedGivesNothing() {
    var export = lend();
    source.close();
    fails(Reason.STALE, start(export.address()));
    export.close();
    assertThat(bytes(target)).isEqualTo(untouched());
  }

  @Test
  void aTargetThatWasClosedTakesNothing() {
    try (var export = lend()) {
      target.close();
      fails(Reason.STALE, start(export.address()));
    }
  }

  @Test
  void wrongSecretReadsNothing() throws Exception {
    try (var export = lend()) {
      var secret = export.address().secret().clone();
      secret[5] ^= 1;
      fails(Reason.UNAUTHENTICATED, start(changed(export.address(), secret, SIZE)));
      read(export.address()); // what is mapped now is of no use without the secret either
      target.write(0, ByteBuffer.wrap(untouched()));
      fails(Reason.UNAUTHENTICATED, start(changed(export.address(), secret, SIZE)));
      assertThat(bytes(target)).isEqualTo(untouched());
    }
  }

  /** The caller knows what its address is for; the owner does not rely on that. */
  @Test
  void aLeaseIsForWritesOrForReads() throws Exception {
    var other = memory.allocateShared(SIZE);
    try (var readable = lend();
        var writable = owner.export(other, LEASE)) {
      for (int round = 0; round < 2; round++) {
        var from = readable.address();
        var to = writable.address();
        fails(Reason.DENIED, reader.write(target, SIZE, from, soon()));
        fails(Reason.DENIED, start(to));
        fails(
            Reason.DENIED,
            reader.write(target, SIZE, with(from, from.secret(), SIZE, Permission.WRITE), soon()));
        fails(Reason.DENIED, start(with(to, to.secret(), SIZE, Permission.READ)));
        assertThat(bytes(source)).isEqualTo(data);
        assertThat(bytes(other)).containsOnly(0);
        assertThat(bytes(target)).isEqualTo(untouched());
        read(from); // in the second round both are mapped
        target.write(0, ByteBuffer.wrap(untouched()));
        reader.write(target, 0, to, soon()).await(soon());
      }
    }
  }

  @Test
  void moreThanTheRegionHasIsRefusedOnBothSides() {
    var small = memory.allocateShared(100);
    try (var export = owner.export(small, Permission.READ, LEASE)) {
      var from = export.address();
      fails(Reason.RANGE, start(changed(from, from.secret(), SIZE)));
      for (var range :
          new Range[] {
            new Range(0, 0, 101),
            new Range(1, 0, 100),
            new Range(0, SIZE, 1),
            new Range(-1, 0, 1),
            new Range(0, -1, 1),
            new Range(0, 0, -1),
            new Range(1, 0, Long.MAX_VALUE),
            new Range(Long.MAX_VALUE, 0, 1)
          }) {
        assertThatThrownBy(() -> reader.read(from, range, target, soon()).await(soon()))
            .as("%s", range)
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
    assertThat(bytes(target)).isEqualTo(untouched());
  }

  @Test
  void cancelledReadsEnd() throws Exception {
    try (var export = lend()) {
      for (int round = 0; round < 20; round++) {
        var running = start(export.address());
        for (int spin = 0; spin < 400 * round; spin++) {
          Thread.onSpinWait();
        }
        running.cancel();
        try {
          assertThat(running.await(soon())).isEqualTo(SIZE);
        } catch (CancelledException expected) {
          assertThat(expected).hasMessageContaining("cancelled");
        }
        target.write(0, ByteBuffer.wrap(untouched()));
        assertThat(bytes(target)).as("after its end").isEqualTo(untouched());
      }
      assertThat(read(export.address())).isEqualTo(SIZE);
    }
    assertThat(bytes(target)).isEqualTo(data);
  }

  @Test
  void aPeerThatIsNotThereIsLost() {
    try (var nobody = new ClosedPort()) {
      fails(Reason.PEER_LOST, start(stranger(nobody.number())));
    }
  }

  @Test
  void aSilentPeerEndsAtTheDeadlineOrByCancel() throws Exception {
    try (var silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      var from = stranger(silent.getLocalPort());
      var late = Deadline.after(Duration.ofMillis(50));
      assertThatExceptionOfType(DeadlineExceededException.class)
          .isThrownBy(() -> reader.read(from, new Range(0, 0, SIZE), target, late).await(soon()));
      var given = start(from);
      given.cancel();
      assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    }
  }

  protected static RegionAddress stranger(int port) {
    return new RegionAddress("127.0.0.1", port, 1, new byte[32], SIZE, Permission.READ);
  }

  @Test
  void theAddressSurvivesItsMessage() throws Exception {
    try (var export = lend()) {
      var received = RegionAddress.of(JsonObject.of(export.address().toMembers()));
      assertThat(received.permission()).isEqualTo(Permission.READ);
      assertThat(read(received)).isEqualTo(SIZE);
    }
    assertThat(bytes(target)).isEqualTo(data);
  }

  @Test
  void aClosedExchangeLendsAndReadsNothing() {
    var export = lend();
    reader.close();
    assertThatIllegalStateException().isThrownBy(() -> read(export.address()));
    owner.close();
    assertThatIllegalStateException().isThrownBy(this::lend);
    export.close();
    assertThat(bytes(target)).isEqualTo(untouched());
  }
}
