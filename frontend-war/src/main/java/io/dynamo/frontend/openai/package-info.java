/**
 * The OpenAI API: chat completions and models. Start at {@link
 * io.dynamo.frontend.openai.TextService}, which is plain Java; the resources only translate between
 * it and JAX-RS. A streamed and a unary answer are two readers of the same {@link
 * io.dynamo.frontend.openai.ChatStream}.
 */
@NullMarked
package io.dynamo.frontend.openai;

import org.jspecify.annotations.NullMarked;
