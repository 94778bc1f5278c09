package io.dynamo.request;

import java.util.concurrent.Flow;

/**
 * Serves an endpoint whose requests are streams. Called on an event loop: it must start the work
 * and return.
 */
public interface BidirectionalHandler<Q, R> {
  /**
   * Starts one request.
   *
   * @param requests what the requester sends, for one subscriber, called on an event loop. Demand
   *     reaches the requester's socket. Completion says that the requester has no more to send, and
   *     does not end the request; an error says that the input was cut, and the request is over.
   *     Cancelling it tells the requester that no more is wanted
   * @param context as in {@link EndpointHandler#handle}
   * @throws io.dynamo.error.DynamoException when the request is refused before a stream exists
   */
  Flow.Publisher<R> handle(Flow.Publisher<Q> requests, RequestContext context);
}
