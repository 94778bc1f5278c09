/**
 * Chooses the rank that serves a request at the least cost: blocks left to prefill plus blocks
 * decoding there. Start at {@link io.dynamo.router.select.RankSelector}. Reads {@code index} and
 * {@code load}; does not depend on events.
 */
@NullMarked
package io.dynamo.router.select;

import org.jspecify.annotations.NullMarked;
