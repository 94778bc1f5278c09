/**
 * Decides when a worker has been silent for too long, from periodic looks at its answers. Start at
 * {@link io.dynamo.request.tcp.silence.SilenceRules}. Knows durations and counts, but no sockets,
 * requests or timers.
 *
 * <p>Time is counted in looks, each of which counts for a bounded time: a process that was stopped,
 * or had no processor for long, does not take its own absence for the silence of its workers.
 */
@NullMarked
package io.dynamo.request.tcp.silence;

import org.jspecify.annotations.NullMarked;
