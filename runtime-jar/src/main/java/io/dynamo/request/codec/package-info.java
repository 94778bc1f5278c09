/**
 * The bytes of the request plane: control message, response envelope, errors, and the codec of
 * generation ({@link io.dynamo.request.codec.GenerateCodec}). Knows no socket.
 */
@NullMarked
package io.dynamo.request.codec;

import org.jspecify.annotations.NullMarked;
