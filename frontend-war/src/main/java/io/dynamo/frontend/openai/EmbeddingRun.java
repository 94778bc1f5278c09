package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.wire.EmbeddingsAnswer;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.Usage;
import io.dynamo.request.RequestContext;
import org.jspecify.annotations.Nullable;

/** Asks a worker for embeddings, and writes them for the client. For one thread. */
final class EmbeddingRun implements PreparedAnswer {
  private final ServingParts parts;
  private final ReceivedRequest received;
  private final ServedModel model;
  private final EmbeddingWish wish;
  private final RequestContext context;
  private volatile @Nullable DynamoException aborted; // set before the work is cancelled

  EmbeddingRun(
      ServingParts parts,
      ReceivedRequest received,
      ServedModel model,
      EmbeddingWish wish,
      RequestContext context) {
    this.parts = parts;
    this.received = received;
    this.model = model;
    this.wish = wish;
    this.context = context.leg();
  }

  @Override
  public @Nullable DynamoException run(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    var output = embed();
    received.share().gather(EmbeddingsAnswer.bytes(output));
    int counted = wish.request().tokens();
    int tokens = output.promptTokens() > 0 ? output.promptTokens() : counted;
    received.watch().recordUsage(new Usage(tokens, 0, null), RequestWatch.ServingWorker.NONE);
    answer.json(EmbeddingsAnswer.write(model.name(), output, wish.base64(), tokens));
    return null;
  }

  private EmbeddingOutput embed() throws InterruptedException {
    try {
      return parts.models().whole().embedder().embed(model, wish.request(), context);
    } catch (DynamoException e) {
      var cause = aborted;
      throw cause == null ? e : cause;
    }
  }

  @Override
  public void abort(DynamoException cause) {
    aborted = cause;
    context.cancellation().kill();
  }

  @Override
  public void close() {
    context.cancellation().detach();
  }
}
