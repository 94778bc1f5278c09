package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.event.Until;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of every transfer, by any code that moves its bytes: it agrees with a copy by loops,
 * moves nothing beside its ranges, touches no side that is closed, ends once, and leaves nothing
 * behind.
 */
@ParameterizedClass
@EnumSource
class TransferContractTest {
  private static final int SIZE = TransferPath.SIZE;
  private static final byte UNTOUCHED = 0x5a;

  @TempDir private Path folder;
  private final TransferPair pair;
  private long heldBefore;
  private long descriptorsBefore;
  private TransferPath path;
  private final Random random = new Random(11);
  private final byte[] data = new byte[SIZE];
  private final byte[] untouched = new byte[SIZE];

  TransferContractTest(TransferPair pair) {
    this.pair = pair;
  }

  @BeforeEach
  void open() throws Exception {
    heldBefore = TransferPath.heldBytes();
    descriptorsBefore = TransferPath.descriptors();
    path = pair.open(folder, Map.of());
    random.nextBytes(data);
    Arrays.fill(untouched, UNTOUCHED);
    path.fillSource(data);
    path.fillTarget(untouched);
  }

  @AfterEach
  void everythingComesBack() throws Exception {
    if (path == null) {
      return;
    }
    path.close();
    Until.holds(() -> TransferPath.heldBytes() <= heldBefore);
    Until.holds(() -> TransferPath.descriptors() <= descriptorsBefore);
  }

  private static Deadline soon() {
    return TransferPath.soon();
  }

  private static CopyBatch whole() {
    return new CopyBatch().add(0, 0, SIZE);
  }

  private long move(CopyBatch ranges) throws InterruptedException {
    return path.start(ranges, soon()).await(soon());
  }

  private void movesWell() throws InterruptedException {
    assertThat(move(whole())).isEqualTo(SIZE);
    assertThat(path.target()).isEqualTo(data);
  }

  /** A side that is closed is named as closed, or as stale where another process lends it. */
  private void isRefusedAsClosed() {
    assertThatThrownBy(() -> move(whole()))
        .satisfiesAnyOf(
            failure -> assertThat(failure).isExactlyInstanceOf(IllegalStateException.class),
            failure ->
                assertThat(failure)
                    .isInstanceOfSatisfying(
                        TransferFailedException.class,
                        stale -> assertThat(stale.reason()).isEqualTo(Reason.STALE)));
  }

  @Test
  void randomRangesAgreeWithACopyByLoops() throws Exception {
    var expected = untouched;
    int refused = 0;
    for (int round = 1; round <= 60; round++) {
      var drawn = path.draw(random, data, expected);
      if (drawn.isAmbiguous()) {
        assertThatThrownBy(() -> move(drawn.ranges()))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("overlap");
        refused++;
      } else {
        assertThat(move(drawn.ranges())).isEqualTo(drawn.byteSize());
      }
      expected = drawn.expected();
      if (round % 10 == 0) {
        assertThat(path.target()).isEqualTo(expected);
      }
    }
    assertThat(refused > 0).isEqualTo(takesSeveralRanges());
  }

  private boolean takesSeveralRanges() {
    return switch (pair) {
      case JAVA_COPY, NATIVE_COPY, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE -> true;
      case SHARED_MEMORY,
          NETWORK,
          UCX,
          UCX_OVER_TCP,
          DISK_WRITE,
          DISK_READ,
          DISK_TO_DISK,
          DEVICE_TO_DISK,
          DISK_TO_DEVICE,
          DISK_TO_SHARED_MEMORY,
          DISK_TO_NETWORK,
          DEVICE_TO_SHARED_MEMORY,
          DEVICE_TO_NETWORK ->
          false;
    };
  }

  @Test
  void aTransferOfNothingCompletes() throws Exception {
    assertThat(move(new CopyBatch())).isZero();
    assertThat(move(new CopyBatch().add(0, 0, 0))).isZero();
    assertThat(path.target()).isEqualTo(untouched);
  }

  @Test
  void aRangeThatLeavesASideMovesNothing() throws Exception {
    for (var outside : path.rangesOutside()) {
      var ranges = new CopyBatch();
      if (takesSeveralRanges()) {
        ranges.add(0, 0, 1); // which is not moved either
      }
      ranges.add(outside[0], outside[1], outside[2]);
      assertThatThrownBy(() -> move(ranges))
          .as("%s", Arrays.toString(outside))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(path.target()).isEqualTo(untouched);
    movesWell();
  }

  @Test
  void aSourceThatIsClosedGivesNothing() throws Exception {
    path.closeSource();
    path.closeSource();
    isRefusedAsClosed();
    assertThat(path.target()).isEqualTo(untouched);
  }

  /** Memory that takes the place of a closed target is not reached by its old name. */
  @Test
  void aTargetThatIsClosedTakesNothing() {
    path.closeTarget();
    path.closeTarget();
    try (var successor = path.memory().allocateShared(SIZE)) {
      isRefusedAsClosed();
      assertThat(TransferPath.bytes(successor)).containsOnly(0);
    }
  }

  @Test
  void aDeadlineThatHasPassedMovesNothing() throws Exception {
    var past = Deadline.after(Duration.ofSeconds(-1));
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> path.start(whole(), past).await(soon()));
    assertThat(path.target()).isEqualTo(untouched);
    movesWell();
  }

  /** Each ends once, at every stage that the cancellation reaches it; a late one has no effect. */
  @Test
  void cancelledTransfersEnd() throws Exception {
    for (int round = 0; round < 20; round++) {
      var running = path.start(whole(), soon());
      var waiting = path.start(whole(), soon());
      for (int spin = 0; spin < 200 * round; spin++) {
        Thread.onSpinWait();
      }
      waiting.cancel();
      running.cancel();
      for (var one : new Transfer[] {running, waiting}) {
        endsWholeOrCancelled(one);
        one.cancel();
        assertThat(one.outcome().toCompletableFuture()).isDone();
      }
    }
    movesWell();
  }

  private static void endsWholeOrCancelled(Transfer one) throws InterruptedException {
    try {
      assertThat(one.await(soon())).isEqualTo(SIZE);
    } catch (CancelledException expected) {
      assertThat(expected).hasMessageContaining("cancelled");
    }
  }

  @Test
  void manyTransfersGoOnAtOnce() throws Exception {
    var running = new ArrayList<Transfer>();
    for (int i = 0; i < 16; i++) {
      running.add(path.start(whole(), soon()));
    }
    for (var one : running) {
      assertThat(one.await(soon())).isEqualTo(SIZE);
    }
    assertThat(path.target()).isEqualTo(data);
  }

  /** Sides that are closed meanwhile keep their bytes until nothing touches them. */
  @Test
  void aTransferEndsWhenItsSidesAreClosedMeanwhile() throws Exception {
    var running = path.start(whole(), soon());
    path.closeSource();
    path.closeTarget();
    try {
      assertThat(running.await(soon())).isEqualTo(SIZE);
    } catch (CancelledException | IllegalStateException closed) {
      assertThat(closed.getMessage()).containsAnyOf("closed", "cancelled", "over");
    } catch (TransferFailedException lost) {
      assertThat(lost.reason()).isIn(Reason.STALE, Reason.PEER_LOST);
    }
  }

  @Test
  void closingThePathEndsEveryTransfer() throws Exception {
    var running = new ArrayList<Transfer>();
    for (int i = 0; i < 8; i++) {
      running.add(path.start(whole(), soon()));
    }
    path.close();
    for (var one : running) {
      Until.holds(one.outcome().toCompletableFuture()::isDone);
    }
  }
}
