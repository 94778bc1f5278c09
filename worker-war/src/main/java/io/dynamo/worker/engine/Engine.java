package io.dynamo.worker.engine;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/** Generates tokens from prompts. Safe for concurrent use after {@link #start}. */
public interface Engine extends AutoCloseable {
  /**
   * Starts the engine; called once, before any other method.
   *
   * @param events receives each change of a rank's KV cache, in order per rank
   */
  EngineDescription start(KvEventSink events);

  /**
   * Starts one generation on the rank that the request names. The rules of the stream: exactly one
   * item has a finish reason and it is the last; a cancellation ends the stream with {@link
   * io.dynamo.inference.FinishReason#CANCELLED} soon, also during prefill; without demand the
   * engine holds at most a bounded number of items.
   *
   * @throws io.dynamo.error.InvalidRequestException when the request can never be served (too long,
   *     unknown rank)
   */
  Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context);

  /** Returns the number of generations that hold a slot or wait for one. */
  int running();

  /** Ends every generation and frees all resources. Idempotent; allowed without a start. */
  @Override
  void close();
}
