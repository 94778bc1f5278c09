/**
 * The envelope of an event as Dynamo writes it, the same on every transport. Start at {@link
 * io.dynamo.event.codec.EnvelopeCodec}.
 */
@NullMarked
package io.dynamo.event.codec;

import org.jspecify.annotations.NullMarked;
