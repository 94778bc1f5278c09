/**
 * Reads the files of a Llama model: {@code config.json} and safetensors. Start at {@link
 * io.dynamo.worker.engine.llama.weights.LlamaWeights}. Knows the kernels' packing, not blocks or
 * requests.
 */
@NullMarked
package io.dynamo.worker.engine.llama.weights;

import org.jspecify.annotations.NullMarked;
