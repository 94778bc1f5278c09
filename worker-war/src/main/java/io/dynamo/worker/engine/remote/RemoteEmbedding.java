package io.dynamo.worker.engine.remote;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.TokenStream;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * One request for embeddings that a server computes, on a virtual thread of its own, which other
 * threads interrupt to end it. Its deadline ends it, too.
 */
final class RemoteEmbedding {
  /** Computes the answer on the thread of the embedding. */
  interface Work {
    /**
     * @throws RuntimeException to end the stream in an error
     * @throws InterruptedException when the embedding was ended
     */
    EmbeddingOutput compute(RemoteEmbedding self) throws InterruptedException;
  }

  private final ItemStream<EmbeddingOutput> stream = new ItemStream<>(2, () -> {}, this::giveUp);
  private final RequestContext context;
  private final Work work;
  private final Consumer<RemoteEmbedding> settled;
  private final Thread thread = Thread.ofVirtual().name("embedding").unstarted(this::run);
  private volatile boolean shutDown;

  /**
   * @param settled called once, before the stream ends
   */
  RemoteEmbedding(RequestContext context, Work work, Consumer<RemoteEmbedding> settled) {
    this.context = context;
    this.work = work;
    this.settled = settled;
  }

  /** Starts the thread; called once. */
  void start() {
    thread.start();
  }

  Flow.Publisher<EmbeddingOutput> stream() {
    return stream;
  }

  long remainingNanos() {
    return context.deadline().remainingNanos();
  }

  DeadlineExceededException late() {
    return new DeadlineExceededException("the deadline passed before the server's embeddings came");
  }

  private void giveUp() {
    thread.interrupt();
  }

  /** Ends it so that its requester asks another worker. */
  void shutDown() {
    shutDown = true;
    thread.interrupt();
  }

  private void run() {
    Runnable end;
    try (var _ = follow(context.cancellation())) {
      var output = work.compute(this);
      end =
          () -> {
            stream.offer(output);
            stream.complete();
          };
    } catch (InterruptedException | RuntimeException | Error failure) {
      // a place must not be lost with its thread, whatever the failure
      var cause = judged(failure);
      end = () -> stream.fail(cause);
    }
    settled.accept(this);
    end.run();
  }

  private Cancellation.Registration follow(Cancellation cancellation) {
    return cancellation.onCancel(_ -> giveUp());
  }

  private DynamoException judged(Throwable failure) {
    if (shutDown) {
      return TokenStream.shutDown();
    }
    if (failure instanceof InterruptedException) {
      return new CancelledException("the requester has given the embeddings up");
    }
    return failure instanceof DynamoException typed
        ? typed
        : new EngineFailedException(
            ErrorCode.BACKEND_UNKNOWN, "the engine failed: " + failure, failure);
  }
}
