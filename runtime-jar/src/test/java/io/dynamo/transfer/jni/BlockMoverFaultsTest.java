package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.event.Until;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.DiskFailedException;
import io.dynamo.transfer.DiskFailedException.Problem;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.jni.MoverPath.Route;
import io.dynamo.transfer.jni.TransferPair.Fault;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Breaks one lane of every way that a mover takes, with one lane and with two, at the first piece,
 * in the middle and at the last one. Each move and each batch ends once, with an error that names
 * its cause; slots, memory and descriptors come back.
 */
class BlockMoverFaultsTest {
  private static final byte UNTOUCHED = 0x5a;
  private static final Duration SHORTLY = Duration.ofMillis(200);

  @SuppressWarnings("NullAway.Init") // opened once
  private static EventLoops loops;

  @TempDir private Path folder;
  private final byte[] data = new byte[MoverPath.SIZE];
  private long heldBefore;
  private long lockedBefore;
  private long descriptorsBefore;

  @SuppressWarnings("NullAway.Init") // opened by each test
  private MoverPath path;

  /** Returns each way with the numbers of the transfers on its broken lane. */
  static Stream<Arguments> breaks() {
    return Stream.of(Route.values())
        .flatMap(
            route ->
                IntStream.of(route.hasStop() ? new int[] {1, 4, MoverPath.PIECES} : new int[] {1})
                    .mapToObj(number -> Arguments.of(route, number)));
  }

  /** Lets the JDK open the descriptor that it keeps for all of its sockets. */
  @BeforeAll
  static void openTheFirstSocket() throws IOException {
    new TcpFaultLink(0, Map.of()).close();
    loops = new EventLoops(1);
  }

  @AfterAll
  static void closeLoops() {
    loops.close();
  }

  @BeforeEach
  void count() throws Exception {
    new Random(13).nextBytes(data);
    heldBefore = TransferPath.heldBytes();
    lockedBefore = LockedMemoryPeer.lockedKilobytes();
    descriptorsBefore = TransferPath.descriptors();
  }

  @AfterEach
  void everythingComesBack() throws Exception {
    path.close();
    Until.holds(() -> TransferPath.heldBytes() <= heldBefore);
    Until.holds(() -> TransferPath.descriptors() <= descriptorsBefore);
    assertThat(LockedMemoryPeer.lockedKilobytes()).isEqualTo(lockedBefore);
    assertThat(NativeLibrary.probe()).contains("\"fault\":{\"contexts\":0}");
  }

  private void open(Route route, int number, Fault fault) throws InterruptedException {
    open(route, Map.of(number, fault));
  }

  private void open(Route route, Map<Integer, Fault> faults) throws InterruptedException {
    path = new MoverPath(route, folder, faults, loops);
    path.fillTarget(SharedMemoryPeer.filled(MoverPath.SIZE, UNTOUCHED));
    path.fillSource(data);
  }

  private static Deadline soon() {
    return TransferPath.soon();
  }

  private byte[] expected() {
    var expected = SharedMemoryPeer.filled(MoverPath.SIZE, UNTOUCHED);
    System.arraycopy(data, 0, expected, 0, MoverPath.MOVED);
    return expected;
  }

  private void movesWell() throws InterruptedException {
    assertThat(path.start(soon()).await(soon())).isEqualTo(MoverPath.MOVED);
    assertThat(path.target()).isEqualTo(expected());
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
  }

  /** A loss that the move before was ended too early for ends one more. */
  private void movesWellAfterTheLoss() throws InterruptedException {
    try {
      path.start(Deadline.after(Duration.ofSeconds(1))).await(soon());
    } catch (DeadlineExceededException lost) {
      assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    }
    movesWell();
  }

  /** No byte behind what is moved was touched, and each byte is the old one or the new one. */
  private void holdsNoForeignBytes() throws InterruptedException {
    var got = path.target();
    assertThat(Arrays.copyOfRange(got, MoverPath.MOVED, got.length)).containsOnly(UNTOUCHED);
    for (int i = 0; i < MoverPath.MOVED; i++) {
      if (got[i] != data[i] && got[i] != UNTOUCHED) {
        assertThat(got[i]).as("byte %d", i).isEqualTo(data[i]);
      }
    }
  }

  private static void failsTyped(Route route, Problem onDisk, ThrowingCallable move) {
    if (route.breaksDisk()) {
      assertThatExceptionOfType(DiskFailedException.class)
          .isThrownBy(move)
          .satisfies(failure -> assertThat(failure.problem()).isEqualTo(onDisk));
    } else {
      failsFor(route.breaksNetwork() ? Reason.PEER_LOST : Reason.BACKEND, move);
    }
  }

  private static void failsFor(Reason reason, ThrowingCallable move) {
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(move)
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(reason));
  }

  @ParameterizedTest
  @MethodSource("breaks")
  void aFailureEndsTheMoveAndTheNextOneIsWell(Route route, int number) throws Exception {
    open(route, number, Fault.FAIL);
    failsTyped(route, Problem.DEVICE, () -> path.start(soon()).await(soon()));
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    holdsNoForeignBytes();
    movesWell();
  }

  @ParameterizedTest
  @MethodSource("breaks")
  void aShortTransferEndsTheMoveAndTheNextOneIsWell(Route route, int number) throws Exception {
    open(route, number, Fault.SHORT);
    failsTyped(route, Problem.CUT_OFF, () -> path.start(soon()).await(soon()));
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    holdsNoForeignBytes();
    movesWell();
  }

  @ParameterizedTest
  @MethodSource("breaks")
  void aLateTransferArrives(Route route, int number) throws Exception {
    open(route, number, Fault.DELAY);
    movesWell();
  }

  @ParameterizedTest
  @MethodSource("breaks")
  void aLostTransferEndsTheMoveAtItsDeadline(Route route, int number) throws Exception {
    open(route, number, Fault.DROP);
    var late = path.start(Deadline.after(SHORTLY));
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> late.await(soon()))
        .withMessageContaining("deadline of the transfer");
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    movesWellAfterTheLoss();
  }

  /** The piece is lost, so that the cancellation finds the move at that stage. */
  @ParameterizedTest
  @MethodSource("breaks")
  void aCancellationEndsTheMoveAtEveryStage(Route route, int number) throws Exception {
    open(route, number, Fault.DROP);
    var given = path.start(soon());
    if (route.hasStop()) { // the other pieces end, and the lost one keeps its slot
      Until.holds(() -> path.idleSlots() == MoverPath.SLOTS - 1);
    }
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    given.cancel();
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    movesWellAfterTheLoss();
  }

  /** TCP notices it by its checksum; otherwise one bit differs, which checksums of blocks show. */
  @ParameterizedTest
  @MethodSource("breaks")
  void aDamagedBitIsNoticed(Route route, int number) throws Exception {
    open(route, number, Fault.CORRUPT);
    if (route.breaksNetwork()) {
      failsFor(Reason.CORRUPT, () -> path.start(soon()).await(soon()));
    } else {
      assertThat(path.start(soon()).await(soon())).isEqualTo(MoverPath.MOVED);
      var got = path.target();
      var wrong = expected();
      int differs = Arrays.mismatch(got, wrong);
      assertThat(differs % MoverPath.SLOT).isZero();
      wrong[differs] ^= 1;
      assertThat(got).isEqualTo(wrong);
    }
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    movesWell();
  }

  /** The blocks of a batch are found when all of them have arrived, or none is. */
  @ParameterizedTest
  @MethodSource("breaks")
  void theTargetsOfABatchThatFailsAreNotFound(Route route, int number) throws Exception {
    open(route, number, Fault.FAIL);
    Set<Integer> found = new HashSet<>();
    failsTyped(route, Problem.DEVICE, () -> register(path.startBatch(soon()), found));
    assertThat(found).isEmpty();
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    holdsNoForeignBytes();
    register(path.startBatch(soon()), found);
    assertThat(found).hasSize(MoverPath.PIECES);
    assertThat(path.target()).isEqualTo(expected());
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
  }

  private static void register(Transfer batch, Set<Integer> found) throws InterruptedException {
    assertThat(batch.await(soon())).isEqualTo(MoverPath.MOVED);
    IntStream.range(0, MoverPath.PIECES).forEach(found::add);
  }

  /** A batch with a lost move ends at its deadline and by its cancellation. */
  @ParameterizedTest
  @EnumSource
  void aBatchWithALostMoveEnds(Route route) throws Exception {
    var faults = new HashMap<Integer, Fault>();
    for (int number = 1; number <= 3 * MoverPath.PIECES; number += 2) {
      faults.put(number, Fault.DROP);
    }
    open(route, faults);
    var late = path.startBatch(Deadline.after(SHORTLY));
    assertThatExceptionOfType(DeadlineExceededException.class).isThrownBy(() -> late.await(soon()));
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    var given = path.startBatch(soon());
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    assertThat(path.idleSlots()).isEqualTo(MoverPath.SLOTS);
    if (!route.breaksDisk() || route.readsBrokenDisk()) { // else reading it is lost, too
      holdsNoForeignBytes();
    }
  }

  @ParameterizedTest
  @EnumSource
  void closingThePathEndsMovesThatAreLost(Route route) throws Exception {
    open(route, Map.of(1, Fault.DROP, 2, Fault.DELAY, 3, Fault.DROP));
    var lost = new Transfer[] {path.start(soon()), path.start(soon()), path.startBatch(soon())};
    path.close();
    for (var one : lost) {
      Until.holds(one.outcome().toCompletableFuture()::isDone);
    }
  }
}
