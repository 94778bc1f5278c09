package io.dynamo.frontend.dispatch;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/**
 * Sends generations to workers and continues them when workers are lost. Safe for concurrent use;
 * never blocks its caller.
 */
public interface Dispatcher {
  /**
   * Generates the tokens of one request, on one worker or on several in turn. Starts when
   * subscribed to; ends with a finish reason and {@code onComplete}, or with a {@link
   * io.dynamo.error.DynamoException}. Raising the context's cancellation or cancelling the
   * subscription ends it at the engine.
   *
   * @param trace records the place of each leg
   * @return the items, for one subscriber
   */
  Flow.Publisher<EngineOutput> generate(
      ServedModel model, GenerateRequest request, RequestContext context, RouteTrace trace);

  /**
   * Returns where a generation would be served now, without serving it.
   *
   * @throws io.dynamo.error.NoWorkerException when no worker could serve it
   */
  RouteTrace route(ServedModel model, GenerateRequest request, RequestContext context);
}
