package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.DeadlineExceededException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One batch on its way, from its start to its end. Safe for concurrent use. Stages that depend on
 * the outcome run on the client's thread: long ones belong on an executor.
 */
public final class Transfer {
  private final CompletableFuture<Long> outcome = new CompletableFuture<>();
  private final Runnable giveUp;

  /**
   * @param giveUp asks the client to end the batch soon; called on any thread, perhaps several
   *     times
   */
  public Transfer(Runnable giveUp) {
    this.giveUp = giveUp;
  }

  /** Returns the number of bytes moved, or the failure, when the batch has ended. */
  public CompletionStage<Long> outcome() {
    return outcome.minimalCompletionStage();
  }

  /**
   * Waits for the end.
   *
   * @return the bytes that were moved
   * @throws DeadlineExceededException when {@code deadline} passes first; the batch goes on
   */
  public long await(Deadline deadline) throws InterruptedException {
    try {
      return outcome.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException _) {
      throw new DeadlineExceededException("the transfer has not ended in time");
    } catch (ExecutionException e) {
      throw failureOf(e);
    }
  }

  /** The failure in what a stage of {@link #outcome} is given; what is none is wrapped. */
  static RuntimeException failureOf(Throwable given) {
    boolean wraps = given instanceof CompletionException || given instanceof ExecutionException;
    var cause = wraps && given.getCause() != null ? given.getCause() : given;
    return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
  }

  /** Asks for an early end, which follows soon. Of no effect on a batch that has ended. */
  public void cancel() {
    if (!outcome.isDone()) {
      giveUp.run();
    }
  }

  /** Ends the batch; only the first end counts. */
  public void complete(long bytes) {
    outcome.complete(bytes);
  }

  /** Ends the batch; only the first end counts. */
  public void fail(RuntimeException why) {
    outcome.completeExceptionally(why);
  }
}
