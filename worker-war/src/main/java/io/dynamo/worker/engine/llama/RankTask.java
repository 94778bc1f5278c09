package io.dynamo.worker.engine.llama;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.DeadlineExceededException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** A task on a rank's blocks that the rank's thread runs between two passes. */
final class RankTask<T> implements LlamaRank.Task {
  private final Function<BlockPool, T> work;
  private final CompletableFuture<T> result = new CompletableFuture<>(); // only ever waited for

  private RankTask(Function<BlockPool, T> work) {
    this.work = work;
  }

  /** Runs {@code work} on the rank's thread and waits for its result, until the deadline. */
  static <T> T call(LlamaRank rank, Function<BlockPool, T> work, Deadline deadline)
      throws InterruptedException {
    var task = new RankTask<>(work);
    rank.ask(task);
    try {
      return task.result.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException _) {
      task.result.cancel(false);
      throw new DeadlineExceededException("the rank did not come to the task in time");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  @Override
  public void run(BlockPool pool) {
    if (result.isDone()) {
      return; // its caller timed out meanwhile
    }
    try {
      result.complete(work.apply(pool));
    } catch (RuntimeException failure) {
      result.completeExceptionally(failure);
    }
  }

  @Override
  public void refuse(RuntimeException why) {
    result.completeExceptionally(why);
  }
}
