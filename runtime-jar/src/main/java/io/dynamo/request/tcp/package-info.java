/**
 * The request plane over TCP: pooled request connections out, call-home streams back. Start at
 * {@link io.dynamo.request.tcp.TcpEndpointClient} and {@link
 * io.dynamo.request.tcp.TcpEndpointServer}.
 *
 * <p>Locks are leaves: while one is held, at most a task is queued on an event loop.
 */
@NullMarked
package io.dynamo.request.tcp;

import org.jspecify.annotations.NullMarked;
