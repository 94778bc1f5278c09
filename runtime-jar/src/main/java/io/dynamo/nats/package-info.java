/**
 * The connection of this process to its NATS servers, which its planes share. Start at {@link
 * io.dynamo.nats.NatsLink}. Knows nothing of events and requests.
 */
@NullMarked
package io.dynamo.nats;

import org.jspecify.annotations.NullMarked;
