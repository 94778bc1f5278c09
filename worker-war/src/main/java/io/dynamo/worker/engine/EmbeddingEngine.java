package io.dynamo.worker.engine;

import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/**
 * Turns prompts into vectors. It lives beside an {@link Engine} of the same model, or alone. Safe
 * for concurrent use after {@link #start}.
 */
public interface EmbeddingEngine extends AutoCloseable {
  /**
   * Starts it; called once, before any other method. May wait for the engine's server.
   *
   * @throws IllegalStateException when it cannot embed
   */
  EmbeddingDescription start();

  /**
   * Computes the vectors of all prompts of a request. The stream has one item, with a vector for
   * each prompt in their order, or ends in an error: a cancellation in {@link
   * io.dynamo.error.CancelledException}, soon and also between the prompts of one request; a
   * deadline in {@link io.dynamo.error.DeadlineExceededException}. Never blocks.
   *
   * @throws io.dynamo.error.InvalidRequestException when the request can never be served
   * @throws io.dynamo.error.WorkerBusyException when as many requests run and wait as it has room
   *     for
   */
  Flow.Publisher<EmbeddingOutput> embed(EmbeddingRequest request, RequestContext context);

  /** Returns the number of requests that run or wait. */
  int running();

  /**
   * Ends every request with an error that lets it go to another worker, and frees all resources.
   * Idempotent; allowed without a start.
   */
  @Override
  void close();
}
