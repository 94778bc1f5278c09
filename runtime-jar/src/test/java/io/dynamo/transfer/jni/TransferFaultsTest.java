package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.event.Until;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.natives.NativeStatus;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.DiskFailedException;
import io.dynamo.transfer.DiskFailedException.Problem;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.jni.TransferPair.Fault;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Breaks transfers of every pair below their implementation: by the library's fault backend, or on
 * the wire. Each ends once, with an error that names its cause; nothing arrives beside its target,
 * and memory and descriptors come back.
 */
class TransferFaultsTest {
  /** How many bytes are moved; those behind them in the target are not. */
  static final int MOVED = TransferPath.SIZE - (64 << 10);

  private static final byte UNTOUCHED = 0x5a;

  @TempDir private Path folder;
  private final byte[] data = new byte[TransferPath.SIZE];
  private long heldBefore;
  private long descriptorsBefore;

  @SuppressWarnings("NullAway.Init") // opened by each test that moves bytes
  private TransferPath path;

  static Set<TransferPair> pairs() {
    return EnumSet.of(
        TransferPair.NATIVE_COPY,
        TransferPair.SHARED_MEMORY,
        TransferPair.NETWORK,
        TransferPair.DISK_WRITE,
        TransferPair.DISK_READ);
  }

  /** Lets the JDK open the descriptor that it keeps for all of its sockets. */
  @BeforeAll
  static void openTheFirstSocket() throws IOException {
    new TcpFaultLink(0, Map.of()).close();
  }

  @BeforeEach
  void count() {
    new Random(3).nextBytes(data);
    heldBefore = TransferPath.heldBytes();
    descriptorsBefore = TransferPath.descriptors();
  }

  @AfterEach
  void everythingComesBack() throws Exception {
    if (path != null) {
      path.close();
    }
    Until.holds(() -> TransferPath.heldBytes() <= heldBefore);
    Until.holds(() -> TransferPath.descriptors() <= descriptorsBefore);
    assertThat(NativeLibrary.probe()).contains("\"fault\":{\"contexts\":0}");
  }

  private void open(TransferPair pair, Map<Integer, Fault> faults) throws InterruptedException {
    path = pair.open(folder, faults);
    path.fillSource(data);
    var untouched = new byte[TransferPath.SIZE];
    Arrays.fill(untouched, UNTOUCHED);
    path.fillTarget(untouched);
  }

  private static Deadline soon() {
    return TransferPath.soon();
  }

  private Transfer start(Deadline deadline) {
    return path.start(new CopyBatch().add(0, 0, MOVED), deadline);
  }

  private long move() throws InterruptedException {
    return start(soon()).await(soon());
  }

  /** Asserts that the first bytes have arrived and none behind them was touched. */
  private void hasArrived(int length) throws InterruptedException {
    var got = path.target();
    assertThat(Arrays.copyOf(got, length)).isEqualTo(Arrays.copyOf(data, length));
    assertThat(Arrays.copyOfRange(got, length, got.length)).containsOnly(UNTOUCHED);
  }

  private void movesWell() throws InterruptedException {
    assertThat(move()).isEqualTo(MOVED);
    hasArrived(MOVED);
  }

  private static void fails(TransferPair pair, Problem onDisk, ThrowingCallable transfer) {
    switch (pair) {
      case DISK_WRITE, DISK_READ ->
          assertThatExceptionOfType(DiskFailedException.class)
              .isThrownBy(transfer)
              .satisfies(failure -> assertThat(failure.problem()).isEqualTo(onDisk));
      case NETWORK -> failsFor(Reason.PEER_LOST, transfer);
      default -> failsFor(Reason.BACKEND, transfer);
    }
  }

  private static void failsFor(Reason reason, ThrowingCallable transfer) {
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(transfer)
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(reason));
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void onlyTheTransferWithTheFaultFails(TransferPair pair) throws Exception {
    open(pair, Map.of(2, Fault.FAIL));
    assertThat(move()).isEqualTo(MOVED);
    fails(pair, Problem.DEVICE, this::move);
    movesWell();
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void aTransferThatFailsAtOnceMovesNothing(TransferPair pair) throws Exception {
    open(pair, Map.of(1, Fault.FAIL));
    fails(pair, Problem.DEVICE, this::move);
    hasArrived(0);
    movesWell();
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void aTransferThatBreaksInTheMiddleLeavesNoForeignBytes(TransferPair pair) throws Exception {
    open(pair, Map.of(1, Fault.SHORT));
    fails(pair, Problem.CUT_OFF, this::move);
    if (pair == TransferPair.NETWORK) {
      int half = MOVED / 2; // what was on the wire arrives a moment after the failure
      Until.holds(() -> isEqualSoFar(half));
    }
    hasArrived(MOVED / 2);
    movesWell();
  }

  private boolean isEqualSoFar(int length) {
    try {
      return Arrays.equals(path.target(), 0, length, data, 0, length);
    } catch (InterruptedException stopped) {
      throw new AssertionError(stopped);
    }
  }

  /** Others go on meanwhile, behind it and before it. */
  @ParameterizedTest
  @MethodSource("pairs")
  void aTransferThatIsLostEndsAtItsDeadlineOrByCancel(TransferPair pair) throws Exception {
    open(pair, Map.of(1, Fault.DROP, 2, Fault.DROP));
    var given = start(soon());
    var late = start(Deadline.after(Duration.ofMillis(20)));
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> late.await(soon()))
        .withMessageContaining("deadline of the transfer");
    hasArrived(0);
    assertThat(move()).isEqualTo(MOVED);
    assertThat(given.outcome().toCompletableFuture()).isNotDone();
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    given.cancel();
    movesWell();
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void aLateTransferArrivesUnlessItIsGivenUp(TransferPair pair) throws Exception {
    open(pair, Map.of(1, Fault.DELAY, 2, Fault.DELAY));
    var given = start(soon());
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    movesWell();
  }

  /** A checksum shows the damage: that of the wire ends the transfer, else that of the blocks. */
  @ParameterizedTest
  @MethodSource("pairs")
  void aDamagedBitIsNoticed(TransferPair pair) throws Exception {
    open(pair, Map.of(1, Fault.CORRUPT));
    if (pair == TransferPair.NETWORK) {
      failsFor(Reason.CORRUPT, this::move);
    } else {
      assertThat(move()).isEqualTo(MOVED);
      var got = path.target();
      assertThat(got[0]).isEqualTo((byte) (data[0] ^ 1));
      assertThat(Arrays.copyOfRange(got, 1, MOVED)).isEqualTo(Arrays.copyOfRange(data, 1, MOVED));
    }
    movesWell();
  }

  /** A region that is closed keeps its bytes while a transfer of it is lost, and no longer. */
  @ParameterizedTest
  @EnumSource(names = {"NATIVE_COPY", "DISK_WRITE", "DISK_READ"})
  void aLostTransferKeepsItsRegionsUntilItEnds(TransferPair pair) throws Exception {
    open(pair, Map.of(1, Fault.DROP, 2, Fault.FAIL));
    var lost = start(soon());
    fails(pair, Problem.DEVICE, this::move); // behind it, so that it has been taken
    long held = TransferPath.heldBytes();
    if (pair == TransferPair.DISK_WRITE) {
      path.closeSource();
    } else {
      path.closeTarget();
    }
    assertThat(TransferPath.heldBytes()).isEqualTo(held);
    lost.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> lost.await(soon()));
    Until.holds(() -> TransferPath.heldBytes() == held - TransferPath.SIZE);
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void closingThePathEndsTransfersThatAreLostOrLate(TransferPair pair) throws Exception {
    open(pair, Map.of(1, Fault.DROP, 2, Fault.DELAY, 3, Fault.DROP));
    var lost = new Transfer[] {start(soon()), start(soon()), start(soon())};
    path.close();
    for (var one : lost) {
      Until.holds(one.outcome().toCompletableFuture()::isDone);
      try {
        assertThat(one.await(soon())).isEqualTo(MOVED); // the late one, at best
      } catch (CancelledException cancelled) {
        assertThat(cancelled).hasMessageContaining("cancelled");
      } catch (TransferFailedException broken) {
        assertThat(broken.reason()).isIn(Reason.PEER_LOST, Reason.STALE);
      }
    }
  }

  /** Each status of the library has one error in Java. */
  @ParameterizedTest
  @CsvSource({
    "PEER_LOST, PEER_LOST",
    "AUTH, UNAUTHENTICATED",
    "CORRUPT, CORRUPT",
    "IO, BACKEND",
    "BACKEND, BACKEND",
    "NO_MEMORY, BACKEND",
    "UNSUPPORTED, BACKEND",
    "DEVICE_LOST, BACKEND"
  })
  void statusesOfTheLibraryAreTyped(NativeStatus status, Reason reason) throws Exception {
    try (var memory = new NativeHostMemory(NativeFaults.NONE.fail(1, status))) {
      var region = memory.allocate(2);
      failsFor(reason, () -> copyByte(memory, region));
      assertThat(copyByte(memory, region)).isOne();
    }
  }

  /** Each errno of a disk has a problem that says what to do about it. */
  @ParameterizedTest
  @CsvSource({
    "28, FULL",
    "122, FULL",
    "27, FULL",
    "30, READ_ONLY",
    "13, DENIED",
    "1, DENIED",
    "2, ABSENT",
    "24, NO_DESCRIPTORS",
    "5, DEVICE",
    "19, DEVICE",
    "22, OTHER"
  })
  void errorsOfADiskAreTyped(int errno, Problem problem) throws Exception {
    try (var memory = new NativeHostMemory();
        var space =
            new NativeDiskSpace(
                memory,
                folder,
                4096,
                NativeDiskSpace.Options.BEST,
                NativeFaults.NONE.fail(1, errno))) {
      var region = memory.allocate(TransferPath.SIZE);
      assertThatExceptionOfType(DiskFailedException.class)
          .isThrownBy(() -> space.write(region, 0, 0, 4096, soon()).await(soon()))
          .withMessageContaining(folder.toString())
          .withMessageContaining("errno " + errno)
          .satisfies(failure -> assertThat(failure.problem()).isEqualTo(problem))
          .satisfies(failure -> assertThat(failure.errno()).isEqualTo(errno));
      assertThat(space.write(region, 0, 0, 4096, soon()).await(soon())).isEqualTo(4096);
    }
  }

  @Test
  void plansThatMakeNoSenseAreRefused() {
    try (var memory = new NativeHostMemory(NativeFaults.NONE.drop(1).fail(1, 5))) {
      assertThatThrownBy(memory::transfers)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("INVALID");
    }
  }

  @Test
  void theProbeCountsContextsWithFaults() {
    try (var memory = new NativeHostMemory(NativeFaults.NONE.drop(1))) {
      assertThat(memory.transfers().kind()).isEqualTo("native");
      assertThat(NativeLibrary.probe()).contains("\"fault\":{\"contexts\":1}");
    }
  }

  private static long copyByte(NativeHostMemory memory, Region region) throws InterruptedException {
    return memory
        .transfers()
        .copy(region, region, new CopyBatch().add(0, 1, 1), Priority.ONBOARD, soon())
        .await(soon());
  }
}
