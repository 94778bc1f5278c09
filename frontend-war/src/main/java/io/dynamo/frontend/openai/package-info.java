/**
 * The APIs of text: OpenAI's chat completions, completions, responses and models, Anthropic's
 * Messages, the routes of vLLM and SGLang that speak token ids, and those of workers that take
 * whole bodies: reranking, classes, pooling, images, videos, speech, realtime sessions. Start at
 * {@link io.dynamo.frontend.openai.TextService}, which is plain Java; the resources only translate
 * between it and JAX-RS. What sets the APIs apart is in {@link io.dynamo.frontend.openai.Api}; a
 * streamed and a unary answer are two readers of the same {@link
 * io.dynamo.frontend.openai.Choices}.
 */
@NullMarked
package io.dynamo.frontend.openai;

import org.jspecify.annotations.NullMarked;
