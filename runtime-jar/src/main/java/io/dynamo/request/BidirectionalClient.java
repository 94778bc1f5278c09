package io.dynamo.request;

import io.dynamo.discovery.Instance;
import io.dynamo.wire.MessageCodec;
import java.util.concurrent.Flow;

/** Calls endpoints whose requests are streams. Safe for concurrent use; never blocks its caller. */
public interface BidirectionalClient {
  /**
   * Sends {@code requests} to {@code instance} once the answer is subscribed to, and answers as
   * {@link EndpointClient#call} does. The requests are subscribed to when the worker calls home for
   * them, on an event loop, and requested as fast as the worker reads. An error of the requests
   * ends the answer with an error; the end of the answer cancels them. A stop ends them early.
   *
   * @return the answer, for one subscriber
   */
  <Q, R> Flow.Publisher<R> exchange(
      Instance instance,
      Flow.Publisher<Q> requests,
      MessageCodec<Q, R> codec,
      RequestContext context);
}
