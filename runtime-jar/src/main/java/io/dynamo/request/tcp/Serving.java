package io.dynamo.request.tcp;

import io.dynamo.pipeline.CallHomeClient;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/** The input of one request, and what becomes of it. */
interface Serving<R> {
  /**
   * Gets hold of the input.
   *
   * @param ready run once, when the requester may be called for its answer
   */
  void open(CallHomeClient callHome, ServedRequest<?, R> request, Runnable ready);

  /**
   * Asks the handler. On the event loop of the answer's stream.
   *
   * @throws io.dynamo.error.DynamoException when the request is refused
   */
  Flow.Publisher<R> begin(RequestContext context);

  /** The kind of failure to count when the step under way fails, until the handler has answered. */
  EndpointMeters.Failure step();

  /** The request is over: lets go of the input. */
  void end();
}
