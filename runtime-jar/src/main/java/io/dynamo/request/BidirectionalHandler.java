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
   * @param requests the items that the requester sends, for one subscriber, called on an event
   *     loop. Demand reaches the requester's socket. Completion means that the requester has no
   *     more to send, and does not end the request; an error means that the input was cut, and ends
   *     the request. Cancelling it informs the requester that no more items are wanted
   * @param context as in {@link EndpointHandler#handle}
   * @throws io.dynamo.error.DynamoException when the request is refused before a stream exists
   */
  Flow.Publisher<R> handle(Flow.Publisher<Q> requests, RequestContext context);
}
