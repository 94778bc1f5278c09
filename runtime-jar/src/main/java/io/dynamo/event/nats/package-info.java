/** The event plane over core NATS. Start at {@link io.dynamo.event.nats.NatsEventPlane}. */
@NullMarked
package io.dynamo.event.nats;

import org.jspecify.annotations.NullMarked;
