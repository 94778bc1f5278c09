package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.ArrivalCharge;

/**
 * Takes requests from an {@link Http2Server}, and bounds the bytes of those that have arrived in
 * part. Called on event loops; it must not block.
 */
public interface Http2Handler extends ArrivalCharge.Room {
  void handle(Http2Request request, Http2Exchange exchange);
}
