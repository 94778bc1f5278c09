/**
 * The settings of discovery, of the request plane and of the event plane. Start at {@link
 * io.dynamo.config.plane.TcpSettings}.
 */
@NullMarked
package io.dynamo.config.plane;

import org.jspecify.annotations.NullMarked;
