package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.OverloadedException;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.ModelText;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Renders and tokenises prompts on a bounded number of platform threads: the work is native and
 * would pin a virtual thread's carrier. Safe for concurrent use; callers wait.
 */
public final class Preprocessor implements AutoCloseable {
  private final ThreadPoolExecutor pool;

  /**
   * @param threads prompts at work at once
   * @param queue prompts that may wait for a thread
   */
  public Preprocessor(int threads, int queue) {
    pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(Math.max(1, queue)),
            Thread.ofPlatform().name("dynamo-preprocess-", 0).daemon().factory());
    pool.allowCoreThreadTimeOut(true);
  }

  /**
   * Token ids of {@code prompt}.
   *
   * @throws DynamoException the template's refusal, {@link CancelledException}, {@link
   *     DeadlineExceededException}, or {@link OverloadedException}
   */
  int[] encode(ModelText model, ChatPrompt prompt, Deadline deadline, Cancellation cancellation)
      throws InterruptedException {
    var result = new CompletableFuture<int[]>();
    Runnable task = () -> run(model, prompt, result);
    try {
      pool.execute(task);
    } catch (RejectedExecutionException e) {
      throw new OverloadedException("too many prompts wait to be tokenised");
    }
    try (var _ =
        cancellation.onCancel(
            level -> result.completeExceptionally(new CancelledException("the client left")))) {
      return result.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new DeadlineExceededException("the prompt was not tokenised in time");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new CompletionException(e);
    } finally {
      result.cancel(false);
      pool.remove(task); // given up while it waited: its place is free
    }
  }

  private static void run(ModelText model, ChatPrompt prompt, CompletableFuture<int[]> result) {
    try {
      if (!result.isDone()) { // else given up
        var text = model.render(prompt);
        if (!result.isDone()) {
          result.complete(model.encode(text));
        }
      }
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
  }

  /** Stops taking prompts and interrupts those at work. Idempotent. */
  @Override
  public void close() {
    pool.shutdownNow();
  }
}
