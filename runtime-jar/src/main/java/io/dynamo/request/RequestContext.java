package io.dynamo.request;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import java.util.Map;

/**
 * The data that travels with a request through every plane.
 *
 * @param id the request's id, the same in every process; a UUID when the frontend generates it
 * @param metadata the caller's own pairs, carried in the control message
 * @param headers trace context and external ids ({@code traceparent}, {@code x-request-id})
 * @param deadline when every process stops waiting
 * @param cancellation raised by the requester, observed by the engine
 */
public record RequestContext(
    String id,
    Map<String, String> metadata,
    Map<String, String> headers,
    Deadline deadline,
    Cancellation cancellation) {
  public RequestContext {
    metadata = Map.copyOf(metadata);
    headers = Map.copyOf(headers);
  }

  /**
   * Returns the context of one leg of the request: the same data with a cancellation of its own
   * that also follows this one's.
   */
  public RequestContext leg() {
    return leg(headers);
  }

  /** Returns the context of one leg, with the given headers. */
  public RequestContext leg(Map<String, String> own) {
    return new RequestContext(id, metadata, own, deadline, cancellation.child());
  }
}
