/**
 * The messages of a generation: request, output, and the parts common to both. Start at {@link
 * io.dynamo.wire.generate.GenerateCodec}.
 */
@NullMarked
package io.dynamo.wire.generate;

import org.jspecify.annotations.NullMarked;
