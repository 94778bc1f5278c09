package io.dynamo.request;

import java.util.concurrent.Flow;

/**
 * Serves the requests of an endpoint. Called on an event loop: it must start the work and return.
 */
public interface EndpointHandler<Q, R> {
  /**
   * Starts one request. The context's cancellation is raised when the requester gives up or its
   * connection is lost; the handler then ends its stream soon. Demand on the answer follows the
   * requester's socket.
   *
   * @throws io.dynamo.error.DynamoException when the request is refused before a stream exists
   */
  Flow.Publisher<R> handle(Q request, RequestContext context);
}
