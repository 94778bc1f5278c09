/**
 * The parts of a generated message: content, reasoning and tool calls. Start at {@link
 * io.dynamo.frontend.postprocess.message.MessageParser}. Knows no model's grammar.
 */
@NullMarked
package io.dynamo.frontend.postprocess.message;

import org.jspecify.annotations.NullMarked;
