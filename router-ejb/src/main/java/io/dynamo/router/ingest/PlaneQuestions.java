package io.dynamo.router.ingest;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.MessageCodec;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Sends queries to endpoints that answer with one item, which is decoded on the executor. Safe for
 * concurrent use.
 */
public final class PlaneQuestions<Q, R> {
  private final EndpointClient client;
  private final MessageCodec<Q, R> codec;
  private final Executor executor;

  /**
   * Creates a sender of queries.
   *
   * @param executor decodes the item; a large one may take long
   */
  public PlaneQuestions(EndpointClient client, MessageCodec<Q, R> codec, Executor executor) {
    this.client = client;
    this.codec = codec;
    this.executor = executor;
  }

  /**
   * Sends {@code question} to {@code target}. Cancelling the future, or the deadline, cancels the
   * query.
   */
  public CompletableFuture<R> ask(Instance target, Q question, Deadline deadline) {
    var cancellation = new Cancellation();
    var context =
        new RequestContext(
            UUID.randomUUID().toString(), Map.of(), Map.of(), deadline, cancellation);
    var reply = new CompletableFuture<R>();
    client
        .call(target, question, new UndecodedItems<>(codec), context)
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

  private void decode(byte[] bytes, PayloadFormat format, CompletableFuture<R> reply) {
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

  /** Takes the first item and ignores others. For one thread at a time. */
  private static final class First implements Flow.Subscriber<byte[]> {
    private final CompletableFuture<?> reply;
    private final Consumer<byte[]> decoder;
    private boolean taken;

    First(CompletableFuture<?> reply, Consumer<byte[]> decoder) {
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
