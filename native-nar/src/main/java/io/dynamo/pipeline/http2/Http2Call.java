package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.StreamListener;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A request that is to be sent.
 *
 * @param answer null for a request whose outcome alone matters
 */
record Http2Call(
    InetSocketAddress worker,
    Http2Request request,
    @Nullable StreamListener answer,
    Http2Client.Outcome outcome) {}
