package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.router.RouteRequest;
import io.dynamo.runtime.EndpointInstances;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Holds the first requests until enough workers have been live at once. Safe for concurrent use.
 */
final class InitialWorkers implements AutoCloseable {
  private final int wanted;
  private final Duration timeout;
  private final Set<Waiter> waiting = ConcurrentHashMap.newKeySet();
  private final Cancellation.Registration watching;
  private volatile boolean seen;
  private volatile boolean closed;

  private static final class Waiter {
    final CompletableFuture<Void> enough = new CompletableFuture<>();
  }

  InitialWorkers(int wanted, Duration timeout, EndpointInstances instances) {
    this.wanted = wanted;
    this.timeout = timeout;
    this.watching =
        instances.onChange(
            () -> {
              if (instances.live().size() >= wanted) {
                seen = true;
                waiting.forEach(one -> one.enough.complete(null));
              }
            });
  }

  /**
   * Returns once enough workers have been seen.
   *
   * @throws NoWorkerException when the timeout passes first, or the router is closed
   * @throws DeadlineExceededException when the request's deadline passes first
   * @throws CancelledException when the request is killed
   */
  void await(RouteRequest request) {
    if (seen) {
      return;
    }
    var waiter = new Waiter();
    var mine = waiter.enough;
    waiting.add(waiter);
    if (seen) { // the listener may have run before this waiter was added
      mine.complete(null);
    } else if (closed) {
      mine.completeExceptionally(closing());
    }
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
      if (e.getCause() instanceof NoWorkerException) {
        throw closing();
      }
      throw new CancelledException("the request was cancelled before the first workers came");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancelledException("interrupted while it waited for the first workers");
    } finally {
      waiting.remove(waiter);
    }
  }

  private static NoWorkerException closing() {
    return new NoWorkerException("the router was closed before the first workers came");
  }

  private static void cancel(CompletableFuture<Void> waiting, Cancellation.Level level) {
    if (level == Cancellation.Level.KILL) {
      waiting.completeExceptionally(new CancelledException("killed"));
    }
  }

  /** Rejects the waiting requests. Idempotent. */
  @Override
  public void close() {
    watching.close();
    closed = true;
    waiting.forEach(one -> one.enough.completeExceptionally(closing()));
  }
}
