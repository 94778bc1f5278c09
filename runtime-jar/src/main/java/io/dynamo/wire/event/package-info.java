/**
 * The envelope of an event as Dynamo writes it, the same on every transport. Start at {@link
 * io.dynamo.wire.event.EnvelopeCodec}.
 */
@NullMarked
package io.dynamo.wire.event;

import org.jspecify.annotations.NullMarked;
