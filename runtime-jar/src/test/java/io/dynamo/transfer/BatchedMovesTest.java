package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.transfer.BlockMover.Move;
import io.dynamo.transfer.BlockMover.Place;
import io.dynamo.transfer.TransferClient.Priority;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Batches of moves that end when the test says so. */
class BatchedMovesTest {
  private final HostMemory memory = new JavaHostMemory();
  private final BlockRegion source = memory.allocate(1000);
  private final BlockRegion target = memory.allocate(1000);
  private final List<Transfer> running = new ArrayList<>();
  private final List<Transfer> cancelled = new ArrayList<>();

  @AfterEach
  void close() {
    memory.close();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(60));
  }

  private Move move(long from, long to, long length) {
    return new Move(new Place.InRegion(source, from), new Place.InRegion(target, to), length);
  }

  private List<Move> moves(int count) {
    return IntStream.range(0, count).mapToObj(i -> move(i, i, 1)).toList();
  }

  private Transfer begin(Move move) {
    var one = new Transfer[1];
    one[0] = new Transfer(() -> cancelled.add(one[0]));
    running.add(one[0]);
    return one[0];
  }

  @Test
  void aBatchCompletesWithItsLastMove() throws Exception {
    var batch = BatchedMoves.start(moves(40), this::begin);
    assertThat(running).hasSize(32);
    for (int i = 0; i < 40; i++) {
      assertThat(batch.outcome().toCompletableFuture()).isNotDone();
      running.get(i).complete(1);
    }
    assertThat(batch.await(soon())).isEqualTo(40);
  }

  @Test
  void movesThatEndAtOnceNeedNoStack() throws Exception {
    var batch =
        BatchedMoves.start(
            moves(50_000),
            _ -> {
              var done = new Transfer(() -> {});
              done.complete(1);
              return done;
            });
    assertThat(batch.await(soon())).isEqualTo(50_000);
  }

  @Test
  void anEmptyBatchCompletes() throws Exception {
    assertThat(BatchedMoves.start(List.of(), this::begin).await(soon())).isZero();
  }

  @Test
  void theFirstFailureCancelsTheOthersAndWaitsForThem() {
    var batch = BatchedMoves.start(moves(40), this::begin);
    running.get(3).complete(1);
    int begun = running.size();
    running.get(7).fail(new IllegalStateException("broken"));
    assertThat(cancelled).hasSize(begun - 2);
    assertThat(running).hasSize(begun); // no further one begins
    for (var one : List.copyOf(running)) {
      assertThat(batch.outcome().toCompletableFuture().isDone()).isFalse();
      one.fail(new CancelledException("cancelled"));
      if (running.indexOf(one) == begun - 1) {
        break;
      }
    }
    assertThatIllegalStateException().isThrownBy(() -> batch.await(soon())).withMessage("broken");
  }

  @Test
  void aMoveThatIsRefusedEndsTheBatch() {
    var batch =
        BatchedMoves.start(
            moves(3),
            _ -> {
              if (running.size() == 1) {
                throw new TransferBusyException(1);
              }
              return begin(moves(1).getFirst());
            });
    assertThat(batch.outcome().toCompletableFuture()).isNotDone();
    running.getFirst().complete(1);
    assertThatExceptionOfType(TransferBusyException.class).isThrownBy(() -> batch.await(soon()));
  }

  @Test
  void aCancelledBatchEndsWithItsMoves() {
    var batch = BatchedMoves.start(moves(2), this::begin);
    batch.cancel();
    assertThat(cancelled).hasSize(2);
    assertThat(batch.outcome().toCompletableFuture()).isNotDone();
    running.forEach(one -> one.fail(new CancelledException("cancelled")));
    assertThatExceptionOfType(CancelledException.class)
        .isThrownBy(() -> batch.await(soon()))
        .withMessage("the transfer was cancelled");
  }

  @Test
  void batchesWhoseOutcomeDependsOnTheOrderAreRefused() throws Exception {
    var mover = new BlockMover(memory, null, null, null);
    var within = new Place.InRegion(target, 5);
    var refused =
        List.of(
            List.of(move(0, 0, 10), move(20, 9, 10)),
            List.of(new Move(within, new Place.InRegion(target, 10), 10)),
            List.of(move(0, 0, 10), new Move(within, new Place.InRegion(source, 500), 10)));
    for (var moves : refused) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> mover.moveAll(moves, Priority.ONBOARD, soon()))
          .withMessageContaining("are the target of a move");
    }
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(
            () ->
                mover.moveAll(
                    List.of(move(0, 0, 10), move(995, 20, 10)), Priority.ONBOARD, soon()));
    var fine = List.of(move(0, 0, 10), move(0, 10, 10), move(0, 5, 0));
    assertThat(mover.moveAll(fine, Priority.ONBOARD, soon()).await(soon())).isEqualTo(20);
  }
}
