package io.dynamo.request.tcp;

import io.dynamo.pipeline.CallHomeClient;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/** The input of one served request and the start of its handler. */
interface Serving<R> {
  /**
   * Opens the input.
   *
   * @param ready run once, when the requester may be called for its answer
   */
  void open(CallHomeClient callHome, ServedRequest<?, R> request, Runnable ready);

  /**
   * Calls the handler. Runs on the event loop of the answer's stream.
   *
   * @throws io.dynamo.error.DynamoException when the request is refused
   */
  Flow.Publisher<R> begin(RequestContext context);

  /**
   * Returns the kind of failure to count when the current step fails; valid until the handler has
   * answered.
   */
  EndpointMeters.Failure step();

  /** Releases the input because the request has ended. */
  void end();
}
