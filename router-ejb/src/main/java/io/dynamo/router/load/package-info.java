/**
 * What each rank has been given to do and has not finished: predicted by the router from its own
 * decisions. Start at {@link io.dynamo.router.load.ActiveSequences}. One lock per endpoint, held
 * for a choice and its booking together, so that two decisions never take the same idle rank
 * unseen.
 */
@NullMarked
package io.dynamo.router.load;

import org.jspecify.annotations.NullMarked;
