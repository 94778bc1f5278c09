/**
 * Requests over NATS, in Dynamo's form; the answers come over TCP. Start at {@link
 * io.dynamo.request.nats.NatsCarrier}.
 */
@NullMarked
package io.dynamo.request.nats;

import org.jspecify.annotations.NullMarked;
