package io.dynamo.frontend.dispatch;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Asks one worker after the other for embeddings, each chosen by the router, until one answers.
 * Safe for concurrent use.
 */
public final class WorkerEmbedder implements Embedder {
  private final WorkerAnswers<EmbeddingRequest, EmbeddingOutput> answers;

  /**
   * @param retries workers that may be asked after the first is lost
   * @param timer for tasks that never wait
   */
  public WorkerEmbedder(
      KvRouter router, EmbeddingCalls workers, int retries, ScheduledExecutorService timer) {
    answers = new WorkerAnswers<>(router, workers::call, workers::setAside, retries, timer);
  }

  @Override
  public EmbeddingOutput embed(ServedModel model, EmbeddingRequest request, RequestContext context)
      throws InterruptedException {
    return answers.ask(model, request, joined(request), context, output -> check(output, request));
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

  private static void check(EmbeddingOutput output, EmbeddingRequest request) {
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
  }
}
