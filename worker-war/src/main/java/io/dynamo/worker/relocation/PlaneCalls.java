package io.dynamo.worker.relocation;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.json.JsonObject;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.JsonCodec;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Sends messages to other workers over the request plane. Safe for concurrent use. */
final class PlaneCalls implements BlockSender.Calls {
  private final EndpointClient client;

  PlaneCalls(EndpointClient client) {
    this.client = client;
  }

  @Override
  public JsonObject call(Instance worker, Map<String, @Nullable Object> message, Deadline deadline)
      throws InterruptedException {
    var cancellation = new Cancellation();
    var context =
        new RequestContext(
            UUID.randomUUID().toString(), Map.of(), Map.of(), deadline, cancellation);
    var answer = new Answer();
    client.call(worker, JsonObject.of(message), new JsonCodec(), context).subscribe(answer);
    try {
      return answer.first.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException _) {
      cancellation.kill();
      throw new DeadlineExceededException("the worker has not answered in time");
    } catch (InterruptedException e) {
      cancellation.kill();
      throw e;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /** Takes the first item and ignores others. For one thread at a time. */
  private static final class Answer implements Flow.Subscriber<JsonObject> {
    private final CompletableFuture<JsonObject> first = new CompletableFuture<>();

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(JsonObject item) {
      first.complete(item);
    }

    @Override
    public void onError(Throwable cause) {
      first.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
      first.completeExceptionally(
          new EngineFailedException(ErrorCode.UNKNOWN, "the answer has no item", null));
    }
  }
}
