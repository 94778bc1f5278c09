/**
 * The frames of the request plane: control message, prologue, response envelope, and errors as they
 * cross it. Start at {@link io.dynamo.wire.request.ResponseEnvelope}.
 */
@NullMarked
package io.dynamo.wire.request;

import org.jspecify.annotations.NullMarked;
