/**
 * Reads and writes the messages of all planes as JSON or MessagePack. Start at {@link
 * io.dynamo.wire.MessageCodec}, {@link io.dynamo.wire.WireReader} and {@link
 * io.dynamo.wire.WireWriter}; the messages of each plane are in a package of their own below. Knows
 * no socket and no plane.
 */
@NullMarked
package io.dynamo.wire;

import org.jspecify.annotations.NullMarked;
