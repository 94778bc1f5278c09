package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
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
import org.jspecify.annotations.Nullable;

/**
 * Asks one worker after the other, each chosen by the router, until one answers. An embedding has
 * no state: whatever a lost worker had done is done again. Safe for concurrent use.
 */
public final class WorkerEmbedder implements Embedder {
  private final KvRouter router;
  private final EmbeddingCalls workers;
  private final int retries;

  /**
   * @param retries workers that may be asked after the first is lost
   */
  public WorkerEmbedder(KvRouter router, EmbeddingCalls workers, int retries) {
    this.router = router;
    this.workers = workers;
    this.retries = retries;
  }

  @Override
  public EmbeddingOutput embed(ServedModel model, EmbeddingRequest request, RequestContext context)
      throws InterruptedException {
    var failed = new HashSet<InstanceId>();
    var tokens = joined(request);
    for (int attempt = 0; ; attempt++) {
      try (var decision = route(model, tokens, context, failed)) {
        var worker = decision.instance();
        try {
          return checked(ask(decision, request, context), request);
        } catch (Migratable lost) {
          failed.add(worker.id());
          if (!(lost instanceof WorkerBusyException)) {
            workers.setAside(worker.endpoint(), worker.id());
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

  /** All prompts as one, so that the router counts all of their load. */
  private static int[] joined(EmbeddingRequest request) {
    var joined = new int[request.tokens()];
    int at = 0;
    for (var prompt : request.prompts()) {
      System.arraycopy(prompt, 0, joined, at, prompt.length);
      at += prompt.length;
    }
    return joined;
  }

  private EmbeddingOutput ask(
      RouteDecision decision, EmbeddingRequest request, RequestContext context)
      throws InterruptedException {
    var answer = new Answer();
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
              ErrorCode.BACKEND_UNKNOWN, "an embedding failed", e.getCause());
    } finally {
      answer.cancel();
    }
  }

  private static EmbeddingOutput checked(EmbeddingOutput output, EmbeddingRequest request) {
    if (output.vectors().size() != request.prompts().size()) {
      throw new EngineFailedException(
          ErrorCode.BACKEND_UNKNOWN,
          "the worker gave %d embeddings of %d prompts"
              .formatted(output.vectors().size(), request.prompts().size()),
          null);
    }
    for (int i = 0; i < output.vectors().size(); i++) {
      for (float number : output.vectors().get(i)) {
        if (!Float.isFinite(number)) {
          throw new EngineFailedException(
              ErrorCode.BACKEND_UNKNOWN,
              "the worker's embedding of prompt %d has the value %s".formatted(i, number),
              null);
        }
      }
    }
    return output;
  }

  /** Waits for the one item of a worker's answer. */
  private static final class Answer implements Flow.Subscriber<EmbeddingOutput> {
    private final CompletableFuture<EmbeddingOutput> result = new CompletableFuture<>();
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
    public void onNext(EmbeddingOutput item) {
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
              ErrorCode.BACKEND_UNKNOWN, "the worker ended without an embedding", null));
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
