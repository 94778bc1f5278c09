/**
 * The request plane over TCP: pooled request connections out, call-home streams back. Start at
 * {@link io.dynamo.request.tcp.TcpEndpointClient} and {@link
 * io.dynamo.request.tcp.TcpEndpointServer}.
 *
 * <p>Locks are leaves: nothing is called while one is held.
 */
@NullMarked
package io.dynamo.request.tcp;

import org.jspecify.annotations.NullMarked;
