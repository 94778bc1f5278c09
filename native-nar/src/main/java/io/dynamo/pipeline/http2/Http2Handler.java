package io.dynamo.pipeline.http2;

/**
 * Takes requests from an {@link Http2Server}, and bounds the bytes of those that have arrived in
 * part. Called on event loops; it must not block.
 */
public interface Http2Handler {
  void handle(Http2Request request, Http2Exchange exchange);

  /**
   * Takes bytes of an incomplete request from the budget of all connections.
   *
   * @return whether there was room; if not, nothing is taken and the request is refused
   */
  boolean take(long bytes);

  /** Returns bytes to that budget. */
  void give(long bytes);
}
