package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteRequest;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Asks one worker after the other, each chosen by the router, until one answers. An answer is one
 * item and leaves no state: whatever a lost worker had done is done again. Safe for concurrent use.
 *
 * @param <Q> a request to a worker
 * @param <A> its answer
 */
final class SingleAnswers<Q, A> {
  /** Sends a request when its answer is subscribed to. */
  interface Calls<Q, A> {
    Flow.Publisher<A> call(Instance instance, Q request, RequestContext context);
  }

  private final KvRouter router;
  private final Calls<Q, A> workers;
  private final BiConsumer<EndpointId, InstanceId> setAside;
  private final int retries;

  /**
   * @param setAside is called with a worker that was lost
   * @param retries workers that may be asked after the first is lost
   */
  SingleAnswers(
      KvRouter router,
      Calls<Q, A> workers,
      BiConsumer<EndpointId, InstanceId> setAside,
      int retries) {
    this.router = router;
    this.workers = workers;
    this.setAside = setAside;
    this.retries = retries;
  }

  /**
   * Returns the answer of a worker; blocks.
   *
   * @param tokens by which the router chooses the worker and counts its load; none is allowed
   * @param check passes the answer on, or refuses it
   * @throws DynamoException when no worker answers, the request is refused or cancelled, or its
   *     deadline passes
   */
  A ask(ServedModel model, Q request, int[] tokens, RequestContext context, UnaryOperator<A> check)
      throws InterruptedException {
    var failed = new HashSet<InstanceId>();
    for (int attempt = 0; ; attempt++) {
      try (var decision = route(model, tokens, context, failed)) {
        var worker = decision.instance();
        try {
          return check.apply(ask(decision, request, context));
        } catch (Migratable lost) {
          failed.add(worker.id());
          if (!(lost instanceof WorkerBusyException)) {
            setAside.accept(worker.endpoint(), worker.id());
          }
          if (attempt >= retries) {
            throw lost;
          }
        }
      }
    }
  }

  private RouteDecision route(
      ServedModel model, int[] tokens, RequestContext context, Set<InstanceId> failed) {
    return router.route(
        new RouteRequest(
            context.id(),
            model.workers(),
            tokens,
            model.card().blockTokens(),
            failed,
            RouteHints.NONE,
            context.deadline(),
            context.cancellation()));
  }

  private A ask(RouteDecision decision, Q request, RequestContext context)
      throws InterruptedException {
    var answer = new Answer<A>();
    try (var _ =
        context
            .cancellation()
            .onCancel(_ -> answer.fail(new CancelledException("the client left")))) {
      workers.call(decision.instance(), request, context).subscribe(answer);
      return answer.result.get(
          Math.max(0, context.deadline().remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new DeadlineExceededException("the request's deadline has passed");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof DynamoException known
          ? known
          : new EngineFailedException(
              ErrorCode.BACKEND_UNKNOWN, "a request to a worker failed", e.getCause());
    } finally {
      answer.cancel();
    }
  }

  /** Waits for the one item of a worker's answer. */
  private static final class Answer<A> implements Flow.Subscriber<A> {
    private final CompletableFuture<A> result = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription; // guarded by this
    private boolean cancelled; // guarded by this

    @Override
    public void onSubscribe(Flow.Subscription given) {
      synchronized (this) {
        subscription = given;
        if (cancelled) {
          given.cancel();
          return;
        }
      }
      given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(A item) {
      result.complete(item);
    }

    @Override
    public void onError(Throwable failure) {
      result.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
      fail(
          new EngineFailedException(
              ErrorCode.BACKEND_UNKNOWN, "the worker ended without an answer", null));
    }

    void fail(DynamoException cause) {
      result.completeExceptionally(cause);
    }

    /** Ends the worker's stream unless it has ended; idempotent. */
    synchronized void cancel() {
      if (!cancelled) {
        cancelled = true;
        if (subscription != null) {
          subscription.cancel();
        }
      }
    }
  }
}
