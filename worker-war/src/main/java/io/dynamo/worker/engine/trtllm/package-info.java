/**
 * TensorRT-LLM's server, {@code trtllm-serve}: its routes and its events in the terms of a remote
 * engine. Start at {@link io.dynamo.worker.engine.trtllm.TrtllmDialect}.
 */
@NullMarked
package io.dynamo.worker.engine.trtllm;

import org.jspecify.annotations.NullMarked;
