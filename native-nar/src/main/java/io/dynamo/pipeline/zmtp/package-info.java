/**
 * Publishing, subscribing and pulling by ZMTP 3.0, ZeroMQ's wire protocol, on event loops: without
 * a library in between a connection is reported as open when its handshake is done, a slow
 * subscriber is bounded by bytes too, and thousands of connections share a thread. Start at {@link
 * io.dynamo.pipeline.zmtp.ZmtpPublisher}, {@link io.dynamo.pipeline.zmtp.ZmtpSubscriber} and {@link
 * io.dynamo.pipeline.zmtp.ZmtpPuller}. Knows messages of frames, nothing of their meaning.
 */
@NullMarked
package io.dynamo.pipeline.zmtp;

import org.jspecify.annotations.NullMarked;
