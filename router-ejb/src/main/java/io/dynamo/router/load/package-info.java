/**
 * The unfinished work of each rank, as the router predicts it from its own decisions. Start at
 * {@link io.dynamo.router.load.ActiveSequences}. One lock per endpoint is held for a choice and its
 * booking together, so that two concurrent decisions never take the same idle rank.
 */
@NullMarked
package io.dynamo.router.load;

import org.jspecify.annotations.NullMarked;
