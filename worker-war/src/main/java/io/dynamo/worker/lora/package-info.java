/**
 * The LoRA adapters of a worker: loads them into the engine and registers them in discovery. Start
 * at {@link io.dynamo.worker.lora.Adapters}; knows nothing of how an engine computes with them.
 */
@NullMarked
package io.dynamo.worker.lora;

import org.jspecify.annotations.NullMarked;
