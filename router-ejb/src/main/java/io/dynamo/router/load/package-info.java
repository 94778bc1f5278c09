/**
 * The unfinished work of each rank, as the router predicts it from its own decisions. Start at
 * {@link io.dynamo.router.load.ActiveSequences}. One lock per endpoint, held for a choice and its
 * booking together, so that two decisions never take the same idle rank unseen.
 */
@NullMarked
package io.dynamo.router.load;

import org.jspecify.annotations.NullMarked;
