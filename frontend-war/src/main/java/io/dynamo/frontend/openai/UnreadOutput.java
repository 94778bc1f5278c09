package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.inference.EngineOutput;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Takes what a worker generates, keeps none of it, and waits for its end. */
final class UnreadOutput implements Flow.Subscriber<EngineOutput> {
  private final CompletableFuture<Boolean> end = new CompletableFuture<>();
  private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();

  /**
   * Subscribes and waits for the end. On any other outcome than the worker's own end the generation
   * is cancelled.
   *
   * @param cancellation of the generation; ends the wait
   * @throws ExecutionException with the failure of the worker, or for a cancellation
   */
  static void await(
      Flow.Publisher<EngineOutput> output, Cancellation cancellation, Deadline deadline)
      throws InterruptedException, ExecutionException, TimeoutException {
    var unread = new UnreadOutput();
    try (var _ =
        cancellation.onCancel(
            _ -> unread.end.completeExceptionally(new CancelledException("it was cancelled")))) {
      output.subscribe(unread);
      var _ = unread.end.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      unread.cancel();
      cancellation.kill();
      throw e;
    }
  }

  private void cancel() {
    var _ = subscription.thenAccept(Flow.Subscription::cancel);
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    given.request(Long.MAX_VALUE);
    subscription.complete(given);
  }

  @Override
  public void onNext(EngineOutput item) {}

  @Override
  public void onError(Throwable failure) {
    end.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    end.complete(true);
  }
}
