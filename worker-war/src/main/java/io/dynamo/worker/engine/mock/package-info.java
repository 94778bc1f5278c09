/**
 * An engine without a model: real scheduling, a real paged KV cache in host memory, and tokens from
 * an oracle that depends on every token before. Start at {@link
 * io.dynamo.worker.engine.mock.MockEngine}.
 *
 * <p>Each rank is one {@code RankScheduler}; all are touched by the one thread that the {@link
 * io.dynamo.worker.engine.Pacer} drives their {@code RankGroup} with; only submitting, cancelling
 * and reading load come from other threads. Knows nothing of tokenizers or planes.
 */
@NullMarked
package io.dynamo.worker.engine.mock;

import org.jspecify.annotations.NullMarked;
