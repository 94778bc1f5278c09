/**
 * Chooses the rank that serves a request at the least cost: blocks left to prefill plus blocks
 * decoding there. Start at {@link io.dynamo.router.select.RankSelector}. Reads {@code index} and
 * {@code load}; knows nothing of events.
 */
@NullMarked
package io.dynamo.router.select;

import org.jspecify.annotations.NullMarked;
