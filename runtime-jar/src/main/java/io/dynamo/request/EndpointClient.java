package io.dynamo.request;

import io.dynamo.discovery.Instance;
import io.dynamo.wire.MessageCodec;
import java.util.concurrent.Flow;

/** The requester's side of the request plane. Safe for concurrent use; never blocks its caller. */
public interface EndpointClient extends AutoCloseable {
  /**
   * Sends {@code request} to {@code instance} once the answer is subscribed to. The stream ends
   * with {@code onComplete} only after the worker's end mark, otherwise with a {@link
   * io.dynamo.error.DynamoException}: {@link io.dynamo.error.Migratable} when the worker could not
   * be reached, refused, fell silent, or cut the stream. Demand reaches the worker's socket: items
   * not requested are not read.
   *
   * <p>Cancelling the subscription, or raising the context's cancellation, informs the worker at
   * once. After a stop, items still on their way are delivered; after a kill or a cancelled
   * subscription, none is.
   *
   * @return the answer, for one subscriber
   */
  <Q, R> Flow.Publisher<R> call(
      Instance instance, Q request, MessageCodec<Q, R> codec, RequestContext context);

  /**
   * Notes that {@code instance} left discovery. Its requests that have not been called home fail as
   * {@link io.dynamo.error.Migratable}, and so do requests sent to it in the next five seconds by
   * callers that chose it earlier; running streams depend on their sockets only.
   */
  void instanceLost(Instance instance);

  /** Notes that {@code instance} is in discovery, possibly again: it may be called at once. */
  void instanceFound(Instance instance);

  /** Ends open streams with a typed error and frees every socket. Idempotent. */
  @Override
  void close();
}
