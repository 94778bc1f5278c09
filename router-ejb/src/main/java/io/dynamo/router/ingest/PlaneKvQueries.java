package io.dynamo.router.ingest;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.MessageCodec;
import io.dynamo.request.RequestContext;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;

/** Asks over the request plane. Safe for concurrent use. */
public final class PlaneKvQueries implements KvQueries {
  private final EndpointClient client;
  private final MessageCodec<KvQuery, KvReply> codec;

  public PlaneKvQueries(EndpointClient client, MessageCodec<KvQuery, KvReply> codec) {
    this.client = client;
    this.codec = codec;
  }

  @Override
  public CompletableFuture<KvReply> ask(Instance target, KvQuery query) {
    var cancellation = new Cancellation();
    var context =
        new RequestContext(
            UUID.randomUUID().toString(),
            Map.of(),
            Map.of(),
            Deadline.after(Recoveries.ATTEMPT),
            cancellation);
    var reply = new CompletableFuture<KvReply>();
    client.call(target, query, codec, context).subscribe(new First(reply));
    var _ =
        reply.whenComplete(
            (_, _) -> {
              if (reply.isCancelled()) {
                cancellation.kill();
              }
            });
    return reply;
  }

  /** Takes the first item; there is one. */
  private record First(CompletableFuture<KvReply> reply) implements Flow.Subscriber<KvReply> {
    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(KvReply item) {
      reply.complete(item);
    }

    @Override
    public void onError(Throwable cause) {
      reply.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
      reply.completeExceptionally(
          new EngineFailedException(ErrorCode.UNKNOWN, "the answer has no reply", null));
    }
  }
}
