/**
 * Requests that wait because every rank that may take them has enough to prefill. Start at {@link
 * io.dynamo.router.queue.AdmissionQueue}. Knows nothing of ranks: it is told when to try again.
 */
@NullMarked
package io.dynamo.router.queue;

import org.jspecify.annotations.NullMarked;
