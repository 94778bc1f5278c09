/**
 * From logits to a token: start at {@link io.dynamo.worker.engine.llama.sample.Sampler}. Knows
 * nothing of models, blocks or streams.
 */
@NullMarked
package io.dynamo.worker.engine.llama.sample;

import org.jspecify.annotations.NullMarked;
