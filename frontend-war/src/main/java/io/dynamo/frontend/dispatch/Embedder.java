package io.dynamo.frontend.dispatch;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.RequestContext;

/** Asks workers for embeddings. Safe for concurrent use; blocks its caller. */
public interface Embedder {
  /**
   * Returns the embeddings of the prompts, of one worker; another is asked when it is lost.
   *
   * @throws io.dynamo.error.DynamoException when no worker answers, the request is refused or
   *     cancelled, or its deadline passes
   */
  EmbeddingOutput embed(ServedModel model, EmbeddingRequest request, RequestContext context)
      throws InterruptedException;
}
