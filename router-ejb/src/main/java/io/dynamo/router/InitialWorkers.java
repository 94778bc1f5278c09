package io.dynamo.router;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.runtime.EndpointInstances;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Holds the first requests until enough workers have been seen once. Safe for concurrent use. */
final class InitialWorkers implements AutoCloseable {
  private final int wanted;
  private final Duration timeout;
  private final CompletableFuture<Void> seen = new CompletableFuture<>();
  private final Cancellation.Registration watching;

  InitialWorkers(int wanted, Duration timeout, EndpointInstances instances) {
    this.wanted = wanted;
    this.timeout = timeout;
    this.watching =
        instances.onChange(
            () -> {
              if (instances.live().size() >= wanted) {
                seen.complete(null);
              }
            });
  }

  /**
   * Returns when they have been seen.
   *
   * @throws NoWorkerException when the timeout passes first
   * @throws DeadlineExceededException when the request's deadline does
   * @throws CancelledException when the request is killed
   */
  void await(RouteRequest request) {
    if (seen.isDone()) {
      return;
    }
    var mine = seen.copy();
    try (Cancellation.Registration _ =
        request.cancellation().onCancel(level -> cancel(mine, level))) {
      mine.get(
          Math.max(0, request.deadline().within(timeout).remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      if (request.deadline().isExpired()) {
        throw new DeadlineExceededException("the deadline passed before the first workers came");
      }
      throw new NoWorkerException(
          "fewer than %d workers of %s have come; start them, or lower dynamo.router.min-initial-workers"
              .formatted(wanted, request.endpoint()));
    } catch (ExecutionException e) {
      throw new CancelledException("the request was cancelled before the first workers came");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancelledException("interrupted while it waited for the first workers");
    }
  }

  private static void cancel(CompletableFuture<Void> waiting, Cancellation.Level level) {
    if (level == Cancellation.Level.KILL) {
      waiting.completeExceptionally(new CancelledException("killed"));
    }
  }

  @Override
  public void close() {
    watching.close();
  }
}
