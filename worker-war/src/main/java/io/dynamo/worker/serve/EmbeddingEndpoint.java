package io.dynamo.worker.serve;

import io.dynamo.concurrent.ForwardingSubscriber;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.FailureShape;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.EmbeddingDescription;
import io.dynamo.worker.engine.EmbeddingEngine;
import java.lang.System.Logger.Level;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests with the vectors of the engine that is there, or refuses them so that they go to
 * another worker. Safe for concurrent use; never blocks.
 */
public final class EmbeddingEndpoint implements EndpointHandler<EmbeddingRequest, EmbeddingOutput> {
  private static final System.Logger LOG = System.getLogger(EmbeddingEndpoint.class.getName());

  /** Bytes of one number of a vector in an answer: base64 of four bytes, rounded up. */
  private static final int ANSWER_BYTES = 6;

  private final int maxAnswerBytes;
  private final Consumer<String> suspicion;
  private volatile @Nullable Serving serving; // null while there is no engine

  /** An engine and its limits. */
  private record Serving(EmbeddingEngine engine, EmbeddingDescription limits) {}

  /**
   * @param maxAnswerBytes the most bytes of one answer, which travels in one frame
   * @param suspicion receives failures of the engine, after which a probe decides on its health
   */
  public EmbeddingEndpoint(int maxAnswerBytes, Consumer<String> suspicion) {
    this.maxAnswerBytes = maxAnswerBytes;
    this.suspicion = suspicion;
  }

  /** Serves with a started engine from now on. */
  public void serve(EmbeddingEngine engine, EmbeddingDescription limits) {
    serving = new Serving(engine, limits);
  }

  /** Refuses all requests from now on. */
  public void rest() {
    serving = null;
  }

  /**
   * {@inheritDoc}
   *
   * @throws WorkerLostException while there is no engine
   * @throws InvalidRequestException when the answer would be too large for a frame
   */
  @Override
  public Flow.Publisher<EmbeddingOutput> handle(EmbeddingRequest request, RequestContext context) {
    var at = serving;
    if (at == null) {
      throw new WorkerLostException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the engine sleeps");
    }
    requireSmall(request, at.limits);
    Flow.Publisher<EmbeddingOutput> answer;
    try {
      answer = at.engine.embed(request, context);
    } catch (RuntimeException failure) {
      throw judged(failure);
    }
    return to -> answer.subscribe(new Judging(to));
  }

  private void requireSmall(EmbeddingRequest request, EmbeddingDescription limits) {
    var asked = request.dimensions();
    int width = asked == null ? limits.width() : Math.clamp(asked, 1, limits.width());
    long bytes = (long) request.prompts().size() * width * ANSWER_BYTES;
    if (bytes > maxAnswerBytes) {
      throw new InvalidRequestException(
          "%d vectors of %d numbers take up to %d bytes, over the %d of dynamo.request.tcp.max-frame; send fewer inputs at once, or set dimensions"
              .formatted(request.prompts().size(), width, bytes, maxAnswerBytes));
    }
  }

  private final class Judging extends ForwardingSubscriber<EmbeddingOutput> {
    Judging(Flow.Subscriber<? super EmbeddingOutput> next) {
      super(next);
    }

    @Override
    public void onError(Throwable cause) {
      next.onError(judged(cause));
    }
  }

  /** Returns the requester's error, which has a type, and reports one of the engine. */
  private DynamoException judged(Throwable cause) {
    if (cause instanceof DynamoException typed) {
      if (cause instanceof Migratable && !(cause instanceof WorkerBusyException)) {
        suspicion.accept(String.valueOf(cause.getMessage()));
      }
      return typed;
    }
    LOG.log(Level.WARNING, "the embedding engine is suspect", FailureShape.of(cause));
    suspicion.accept("it failed: " + cause.getClass().getName());
    return new WorkerLostException(
        ErrorCode.BACKEND_STREAM_INCOMPLETE,
        "the engine failed: " + cause.getClass().getSimpleName(),
        cause);
  }
}
