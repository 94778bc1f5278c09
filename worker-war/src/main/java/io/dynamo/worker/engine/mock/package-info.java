/**
 * An engine without a model: real scheduling, a real paged KV cache in host memory, and tokens from
 * an oracle that depends on every token before. Start at {@link
 * io.dynamo.worker.engine.mock.MockEngine}.
 *
 * <p>Each rank is one {@code RankScheduler}; the {@link io.dynamo.worker.engine.Pacer} drives the
 * {@code RankGroup} of all ranks with one thread, the only one that changes them; other threads
 * only submit, cancel and read load. Knows nothing of tokenizers or planes.
 */
@NullMarked
package io.dynamo.worker.engine.mock;

import org.jspecify.annotations.NullMarked;
