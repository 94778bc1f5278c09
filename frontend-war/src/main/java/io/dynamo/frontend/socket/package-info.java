/**
 * WebSockets (RFC 6455) over the two byte streams of an upgraded connection: the handshake,
 * messages that arrive and frames that leave. Start at {@link
 * io.dynamo.frontend.socket.SocketReader}. Knows nothing of what the messages say.
 */
@NullMarked
package io.dynamo.frontend.socket;

import org.jspecify.annotations.NullMarked;
