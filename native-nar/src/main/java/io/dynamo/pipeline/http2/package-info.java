/**
 * Requests and their answers over HTTP/2: one stream for each, whose request body is a two-part
 * frame and whose response body is a sequence of them. Start at {@link
 * io.dynamo.pipeline.http2.Http2Client} and {@link io.dynamo.pipeline.http2.Http2Server}. It knows
 * neither endpoints nor the contents of frames.
 */
@NullMarked
package io.dynamo.pipeline.http2;

import org.jspecify.annotations.NullMarked;
