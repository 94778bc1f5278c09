/**
 * vLLM's own server as an engine, driven by token ids. Start at {@link
 * io.dynamo.worker.engine.vllm.VllmDialect}.
 */
@NullMarked
package io.dynamo.worker.engine.vllm;

import org.jspecify.annotations.NullMarked;
