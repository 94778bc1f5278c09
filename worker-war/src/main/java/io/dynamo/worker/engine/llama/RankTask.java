package io.dynamo.worker.engine.llama;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.DeadlineExceededException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** A task on a rank's blocks that the rank's thread runs between two passes. */
final class RankTask<T> implements LlamaRank.Task {
  private final Function<BlockPool, T> work;
  private final BiConsumer<BlockPool, T> undo;
  private final CompletableFuture<T> result = new CompletableFuture<>(); // only ever waited for

  private RankTask(Function<BlockPool, T> work, BiConsumer<BlockPool, T> undo) {
    this.work = work;
    this.undo = undo;
  }

  /**
   * Runs {@code work} on the rank's thread and waits for its result, until the deadline.
   *
   * @param undo run on the rank's thread when the caller does not get the result any more
   */
  static <T> T call(
      LlamaRank rank, Function<BlockPool, T> work, BiConsumer<BlockPool, T> undo, Deadline deadline)
      throws InterruptedException {
    var task = new RankTask<>(work, undo);
    rank.submitTask(task);
    return task.await(rank, deadline);
  }

  /**
   * Runs {@code work}, which gives blocks back, on the rank's thread under any load, and waits for
   * its result until the deadline; it also runs later.
   */
  static <T> T callAlways(LlamaRank rank, Function<BlockPool, T> work, Deadline deadline)
      throws InterruptedException {
    var task = new RankTask<>(work, (_, _) -> {});
    rank.submitRelease(task);
    try {
      return task.result(deadline);
    } catch (TimeoutException _) {
      throw late();
    }
  }

  /** Releases blocks on the rank's thread, soon. */
  static void release(LlamaRank rank, BlockTable table) {
    rank.submitRelease(
        new RankTask<>(
            _ -> {
              table.release();
              return table;
            },
            (_, _) -> {}));
  }

  private T await(LlamaRank rank, Deadline deadline) throws InterruptedException {
    try {
      return result(deadline);
    } catch (TimeoutException _) {
      giveUp(rank);
      throw late();
    } catch (InterruptedException e) {
      giveUp(rank);
      throw e;
    }
  }

  private void giveUp(LlamaRank rank) {
    if (!result.cancel(false) && !result.isCompletedExceptionally()) {
      var value = result.resultNow(); // it came at the last moment
      rank.submitRelease(
          new RankTask<>(
              pool -> {
                undo.accept(pool, value);
                return value;
              },
              (_, _) -> {}));
    }
  }

  private T result(Deadline deadline) throws InterruptedException, TimeoutException {
    try {
      return result.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  private static DeadlineExceededException late() {
    return new DeadlineExceededException("the rank did not come to the task in time");
  }

  @Override
  public void run(BlockPool pool) {
    if (result.isDone()) {
      return; // its caller timed out meanwhile
    }
    try {
      var value = work.apply(pool);
      if (!result.complete(value)) {
        undo.accept(pool, value);
      }
    } catch (RuntimeException failure) {
      result.completeExceptionally(failure);
    }
  }

  @Override
  public void refuse(RuntimeException why) {
    result.completeExceptionally(why);
  }
}
