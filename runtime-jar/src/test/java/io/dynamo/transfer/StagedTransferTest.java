package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Moves over two lanes whose hops end when the test says so. */
class StagedTransferTest {
  private static final int SLOT = 64;

  private final HostMemory memory = new JavaHostMemory();

  /** One lane, with its running hops in the order of their starts. */
  private static final class Lane implements StagedTransfer.Hop {
    private record RunningHop(long slotOffset, long offset, long length, Transfer transfer) {}

    private final List<RunningHop> running = new ArrayList<>();
    private final List<Long> begun = new ArrayList<>();
    private final List<Transfer> asked = new ArrayList<>(); // to end early

    @Override
    public Transfer move(HostMemory.Region slot, long slotOffset, long offset, long length) {
      var transfer = new Transfer[1];
      transfer[0] = new Transfer(() -> asked.add(transfer[0]));
      running.add(new RunningHop(slotOffset, offset, length, transfer[0]));
      begun.add(offset / SLOT);
      return transfer[0];
    }

    /** Ends the hop that began first. */
    void complete() {
      var one = running.removeFirst();
      one.transfer.complete(one.length);
    }

    void fail(RuntimeException why) {
      running.removeFirst().transfer.fail(why);
    }

    /** Ends, as lanes do, those that were asked to. */
    void endCancelled() {
      running.removeIf(one -> asked.contains(one.transfer));
      asked.forEach(one -> one.fail(new CancelledException("the hop was cancelled")));
    }

    Set<Long> slots() {
      var slots = new HashSet<Long>();
      running.forEach(one -> assertThat(slots.add(one.slotOffset)).isTrue());
      return slots;
    }
  }

  private final Lane first = new Lane();
  private final Lane second = new Lane();
  private BouncePool pool;

  @BeforeEach
  void open() {
    pool = pool(4);
  }

  @AfterEach
  void close() {
    memory.close();
  }

  private BouncePool pool(int slots) {
    return new BouncePool(memory.allocate((long) slots * SLOT), SLOT);
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(60));
  }

  private Transfer start(int pieces) {
    return StagedTransfer.start(pool, (long) pieces * SLOT, first, second, soon());
  }

  /** While a slot is emptied the next ones are filled, and no two pieces share one. */
  @Test
  void theFirstHopOfASlotOverlapsTheSecondOneOfTheSlotBefore() throws Exception {
    var move = start(7);
    assertThat(first.begun).containsExactly(0L, 1L, 2L, 3L);
    assertThat(second.begun).isEmpty();
    for (long piece = 0; piece < 7; piece++) {
      first.complete();
      assertThat(second.begun).endsWith(piece);
      var shared = first.slots();
      shared.retainAll(second.slots());
      assertThat(shared).isEmpty();
      if (piece < 6) {
        assertThat(first.running).as("hop 1 of slot %d + 1 runs meanwhile", piece).isNotEmpty();
      }
      second.complete();
      assertThat(first.begun).hasSize((int) Math.min(7, piece + 5));
    }
    assertThat(move.await(soon())).isEqualTo(7L * SLOT);
    assertThat(pool.idle()).isEqualTo(4);
  }

  @Test
  void oneSlotIsFilledAndEmptiedInTurn() throws Exception {
    pool = pool(1);
    var move = start(3);
    for (int piece = 0; piece < 3; piece++) {
      assertThat(first.running).hasSize(1);
      first.complete();
      assertThat(first.running).isEmpty();
      assertThat(second.running).hasSize(1);
      second.complete();
    }
    assertThat(move.await(soon())).isEqualTo(3L * SLOT);
  }

  /** Hops that end at once do not nest: there are a hundred thousand of them. */
  @Test
  void hopsThatEndAtOnceNeedNoStack() throws Exception {
    var moved = new AtomicLong();
    StagedTransfer.Hop instant =
        (_, _, _, length) -> {
          var done = new Transfer(() -> {});
          done.complete(length);
          moved.addAndGet(length);
          return done;
        };
    long bytes = 100_000L * SLOT + 1;
    assertThat(StagedTransfer.start(pool, bytes, instant, instant, soon()).await(soon()))
        .isEqualTo(bytes);
    assertThat(moved.get()).isEqualTo(2 * bytes);
    assertThat(pool.idle()).isEqualTo(4);
  }

  @Test
  void aMoveOfNothingCompletesWithoutASlot() throws Exception {
    assertThat(start(0).await(soon())).isZero();
    assertThat(first.begun).isEmpty();
  }

  /** Ends by its failure once the other hops have ended, and not before. */
  @ParameterizedTest
  @CsvSource({"true, 0", "true, 2", "false, 0", "false, 2"})
  void theFirstFailureEndsTheMoveWhenNothingRunsAnyMore(boolean inFirst, int completed) {
    var move = start(7);
    for (int i = 0; i < completed; i++) {
      first.complete();
      second.complete();
    }
    if (!inFirst) {
      first.complete();
    }
    var why = new IllegalStateException("the lane broke");
    (inFirst ? first : second).fail(why);
    assertThat(move.outcome().toCompletableFuture()).isNotDone();
    assertThat(first.asked).hasSize(first.running.size());
    first.endCancelled();
    second.endCancelled();
    assertThatIllegalStateException()
        .isThrownBy(() -> move.await(soon()))
        .withMessage("the lane broke");
    assertThat(pool.idle()).isEqualTo(4);
    assertThat(first.begun.size()).isLessThanOrEqualTo(5 + completed);
  }

  /** Cancelled before a slot, during the first hop, and during the second one. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aCancellationEndsTheMoveAtEveryStage(int stage) {
    pool = pool(1);
    var holding = stage == 0 ? start(1) : null;
    int idleAtEnd = stage == 0 ? 0 : 1;
    var move = start(3);
    if (stage == 2) {
      first.complete();
    }
    move.cancel();
    move.cancel();
    if (stage != 0) {
      assertThat(move.outcome().toCompletableFuture()).isNotDone();
      assertThat(pool.idle()).isZero(); // the hop has the slot still
      first.endCancelled();
      second.endCancelled();
    }
    assertThatExceptionOfType(CancelledException.class)
        .isThrownBy(() -> move.await(soon()))
        .withMessage("the transfer was cancelled");
    assertThat(pool.idle()).isEqualTo(idleAtEnd);
    if (holding != null) {
      first.complete();
      second.complete();
      assertThat(holding.outcome().toCompletableFuture()).isCompletedWithValue((long) SLOT);
    }
    assertThat(pool.idle()).isOne();
    assertThat(first.begun).hasSize(1);
  }

  /** Another move holds the only slot for ever: the wait for it ends at the deadline. */
  @Test
  void aWaitForASlotEndsAtTheDeadline() {
    pool = pool(1);
    var holding = start(1);
    var late =
        StagedTransfer.start(pool, SLOT, first, second, Deadline.after(Duration.ofMillis(20)));
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> late.await(soon()))
        .withMessageContaining("deadline of the transfer");
    assertThat(holding.outcome().toCompletableFuture()).isNotDone();
    first.complete();
    second.complete();
    assertThat(holding.outcome().toCompletableFuture()).isCompletedWithValue((long) SLOT);
    assertThat(pool.idle()).isOne();
  }

  @Test
  void slotsAreNamedOnceAndWithinTheirRegion() {
    var region = memory.allocate(4L * SLOT);
    assertThat(new BouncePool(region, SLOT, new int[] {3, 1}).idle()).isEqualTo(2);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BouncePool(region, SLOT, new int[] {1, 2, 1}))
        .withMessage("slot 1 is named twice");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BouncePool(region, SLOT, new int[] {4}))
        .withMessage("slot 4 is none of the 4 in the region");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BouncePool(region, SLOT, new int[] {-1}));
    assertThatIllegalArgumentException().isThrownBy(() -> new BouncePool(region, SLOT, new int[0]));
    assertThatIllegalArgumentException().isThrownBy(() -> new BouncePool(region, 0));
  }

  @Test
  void aSlotThatIsGivenBackTwiceIsNoticed() {
    var taken = new ArrayList<Integer>();
    pool.take(taken::add);
    pool.giveBack(taken.getFirst());
    assertThatIllegalStateException()
        .isThrownBy(() -> pool.giveBack(taken.getFirst()))
        .withMessageContaining("given back twice");
    assertThat(pool.idle()).isEqualTo(4);
  }

  /** Takes all slots, and returns them as numbers. */
  private List<Integer> takeAll() {
    var slots = new ArrayList<Integer>();
    for (int i = 0; i < 4; i++) {
      pool.take(slots::add);
    }
    assertThat(slots).hasSize(4);
    return slots;
  }

  @Test
  void waitingMovesThatFailAtOnceNeedNoStackAndLoseNoSlot() {
    var slots = takeAll();
    StagedTransfer.Hop broken =
        (_, _, _, _) -> {
          throw new IllegalStateException("the lane is closed");
        };
    var moves = new ArrayList<Transfer>();
    for (int i = 0; i < 4000; i++) {
      moves.add(StagedTransfer.start(pool, SLOT, broken, broken, soon()));
    }

    slots.forEach(pool::giveBack);

    for (var move : moves) {
      assertThatIllegalStateException()
          .isThrownBy(() -> move.await(soon()))
          .withMessageContaining("closed");
    }
    assertThat(pool.idle()).isEqualTo(4);
  }

  @Test
  void anErrorOfALaneFailsTheMoveAndLosesNoSlot() {
    StagedTransfer.Hop broken =
        (_, _, _, _) -> {
          throw new LinkageError("no such symbol");
        };
    var move = StagedTransfer.start(pool, SLOT, broken, broken, soon());

    assertThatIllegalStateException()
        .isThrownBy(() -> move.await(soon()))
        .withCauseInstanceOf(LinkageError.class);
    assertThat(pool.idle()).isEqualTo(4);
  }

  /** Slots of others come later, or never. */
  @Test
  void aMoveThatFailsWhileItWaitsForAnotherSlotEndsWithoutIt() {
    var slots = takeAll();
    pool.giveBack(slots.removeFirst());
    var move = start(2); // one piece is on its way, one waits
    assertThat(first.begun).hasSize(1);

    first.fail(new IllegalStateException("the lane broke"));

    assertThatIllegalStateException()
        .isThrownBy(() -> move.await(soon()))
        .withMessageContaining("broke");
    assertThat(pool.idle()).isOne();
    slots.forEach(pool::giveBack);
    assertThat(pool.idle()).isEqualTo(4);
  }
}
