/**
 * Requests that wait because every rank that may take them has enough to prefill. Start at {@link
 * io.dynamo.router.queue.AdmissionQueue}. It does not depend on ranks: its owner signals when
 * waiting requests should try again.
 */
@NullMarked
package io.dynamo.router.queue;

import org.jspecify.annotations.NullMarked;
