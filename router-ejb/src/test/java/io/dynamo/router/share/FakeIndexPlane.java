package io.dynamo.router.share;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.request.RequestContext;
import io.dynamo.router.index.TieredIndexer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;

/** An index plane without a network between routers of one test; answers on the caller's thread. */
public final class FakeIndexPlane implements IndexPlane {
  private final Map<EndpointId, IndexEndpoint> desks = new HashMap<>();
  private boolean silent;
  private int asked;

  /** Sets whether queries are lost from now on. */
  public void setSilent(boolean silent) {
    this.silent = silent;
  }

  /** Returns the number of queries until now. */
  public int asked() {
    return asked;
  }

  @Override
  public Serving serve(EndpointId workers, String model, TieredIndexer index) {
    var desk = desks.computeIfAbsent(workers, _ -> new IndexEndpoint(Runnable::run));
    desk.put(model, index);
    return () -> {
      if (desk.remove(model, index) && desk.isEmpty()) {
        desks.remove(workers);
      }
    };
  }

  @Override
  public CompletableFuture<KvIndexReply> ask(
      EndpointId workers, KvIndexQuery query, Deadline deadline) {
    asked++;
    var desk = desks.get(workers);
    if (silent) {
      return new CompletableFuture<>();
    }
    return desk == null
        ? CompletableFuture.failedFuture(new IllegalStateException("nobody answers"))
        : first(desk.handle(query, context(deadline)));
  }

  static RequestContext context(Deadline deadline) {
    return new RequestContext("r", Map.of(), Map.of(), deadline, new Cancellation());
  }

  /** Returns the one item of an answer. */
  static CompletableFuture<KvIndexReply> first(Flow.Publisher<KvIndexReply> answer) {
    var reply = new CompletableFuture<KvIndexReply>();
    answer.subscribe(
        new Flow.Subscriber<>() {
          @Override
          public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
          }

          @Override
          public void onNext(KvIndexReply item) {
            reply.complete(item);
          }

          @Override
          public void onError(Throwable failure) {
            reply.completeExceptionally(failure);
          }

          @Override
          public void onComplete() {}
        });
    return reply;
  }
}
