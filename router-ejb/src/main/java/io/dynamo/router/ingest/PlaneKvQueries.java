package io.dynamo.router.ingest;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.MessageCodec;
import io.dynamo.request.RequestContext;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/** Asks over the request plane; replies are decoded on the executor. Safe for concurrent use. */
public final class PlaneKvQueries implements KvQueries {
  private final EndpointClient client;
  private final MessageCodec<KvQuery, KvReply> codec;
  private final Executor executor;

  /**
   * @param executor decodes; a dump may take long
   */
  public PlaneKvQueries(
      EndpointClient client, MessageCodec<KvQuery, KvReply> codec, Executor executor) {
    this.client = client;
    this.codec = codec;
    this.executor = executor;
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
    client
        .call(target, query, new UndecodedReplies(codec), context)
        .subscribe(new First(reply, bytes -> decode(bytes, target.format(), reply)));
    var _ =
        reply.whenComplete(
            (_, _) -> {
              if (reply.isCancelled()) {
                cancellation.kill();
              }
            });
    return reply;
  }

  private void decode(byte[] bytes, PayloadFormat format, CompletableFuture<KvReply> reply) {
    try {
      executor.execute(
          () -> {
            try {
              reply.complete(codec.decodeItem(ByteBuffer.wrap(bytes), format));
            } catch (RuntimeException e) {
              reply.completeExceptionally(e);
            }
          });
    } catch (RejectedExecutionException e) {
      reply.completeExceptionally(e); // the router stops
    }
  }

  /** Takes the first item; there is one. One thread at a time. */
  private static final class First implements Flow.Subscriber<byte[]> {
    private final CompletableFuture<KvReply> reply;
    private final Consumer<byte[]> decoder;
    private boolean taken;

    First(CompletableFuture<KvReply> reply, Consumer<byte[]> decoder) {
      this.reply = reply;
      this.decoder = decoder;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(byte[] item) {
      if (!taken) {
        taken = true;
        decoder.accept(item);
      }
    }

    @Override
    public void onError(Throwable cause) {
      if (!taken) {
        reply.completeExceptionally(cause);
      }
    }

    @Override
    public void onComplete() {
      if (!taken) {
        reply.completeExceptionally(
            new EngineFailedException(ErrorCode.UNKNOWN, "the answer has no reply", null));
      }
    }
  }
}
