/**
 * The LoRA adapters of a worker: what the engine has, and what discovery tells of it. Start at
 * {@link io.dynamo.worker.lora.Adapters}; knows nothing of how an engine computes with them.
 */
@NullMarked
package io.dynamo.worker.lora;

import org.jspecify.annotations.NullMarked;
