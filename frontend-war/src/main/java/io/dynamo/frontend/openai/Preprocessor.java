package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.OverloadedException;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.PromptText;
import io.dynamo.model.vocabulary.TokenTable;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Renders and tokenises prompts: short ones on the caller's thread, as another thread would cost
 * more; long ones on a bounded number of platform threads, so that they do not hold carriers of
 * virtual threads. Never called on an event loop. Safe for concurrent use; callers wait.
 */
public final class Preprocessor implements AutoCloseable {
  private static final int SHORT = 16 << 10;

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
   * Runs {@code work} and waits for its result. When the caller is cancelled or late, the working
   * thread is interrupted, which ends templates and tokenizers.
   *
   * @param bytes of the request that the prompts came in
   * @throws DynamoException the work's own refusal, {@link CancelledException}, {@link
   *     DeadlineExceededException}, or {@link OverloadedException}
   */
  <T> T run(
      ModelText model,
      Function<ModelText, T> work,
      long bytes,
      Deadline deadline,
      Cancellation cancellation)
      throws InterruptedException {
    if (bytes <= SHORT) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      return work.apply(model);
    }
    var result = new CompletableFuture<T>();
    var task = new Task<>(new WhileWanted(model, result), work, result);
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
      if (result.isCompletedExceptionally() || result.cancel(false)) {
        pool.remove(task); // given up while it waited: its place is free
        task.interrupt();
      }
    }
  }

  /** The work for one caller. */
  private static final class Task<T> implements Runnable {
    private final ModelText model;
    private final Function<ModelText, T> work;
    private final CompletableFuture<T> result;
    private @Nullable Thread worker; // while it works; guarded by this

    Task(ModelText model, Function<ModelText, T> work, CompletableFuture<T> result) {
      this.model = model;
      this.work = work;
      this.result = result;
    }

    @Override
    public void run() {
      synchronized (this) {
        if (result.isDone()) {
          return;
        }
        worker = Thread.currentThread();
      }
      try {
        result.complete(work.apply(model));
      } catch (RuntimeException | Error e) {
        result.completeExceptionally(e);
      } finally {
        synchronized (this) {
          worker = null;
          boolean _ =
              Thread.interrupted(); // an interrupt for this caller's work must not hit the next
        }
      }
    }

    synchronized void interrupt() {
      if (worker != null) {
        worker.interrupt();
      }
    }
  }

  /** A tokenizer that fails once its caller has stopped waiting. */
  private record WhileWanted(ModelText model, Future<?> result) implements ModelText {
    @Override
    public PromptText render(ChatPrompt prompt) {
      return model.render(prompt);
    }

    @Override
    public int[] encode(PromptText prompt, int maxTokens) {
      if (result.isDone()) {
        throw new CancelledException("the caller no longer waits for the prompt");
      }
      return model.encode(prompt, maxTokens);
    }

    @Override
    public int maxTokenChars() {
      return model.maxTokenChars();
    }

    @Override
    public TokenTable tokens() {
      return model.tokens();
    }

    @Override
    public int[] eosTokenIds() {
      return model.eosTokenIds();
    }

    @Override
    public void close() {
      model.close();
    }
  }

  /** Refuses further prompts and interrupts those at work. Idempotent. */
  @Override
  public void close() {
    pool.shutdownNow();
  }
}
