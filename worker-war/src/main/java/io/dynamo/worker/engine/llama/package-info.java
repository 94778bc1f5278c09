/**
 * An engine that computes a small Llama model in this process, in plain Java. Start at {@link
 * io.dynamo.worker.engine.llama.LlamaEngine}; one {@code LlamaRank} thread per rank schedules
 * passes, a {@code LlamaForwardPass} computes them over paged blocks in native regions. Knows
 * nothing of planes.
 */
@NullMarked
package io.dynamo.worker.engine.llama;

import org.jspecify.annotations.NullMarked;
