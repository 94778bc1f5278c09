/**
 * Indexes of the prefixes of KV blocks that ranks have cached. Start at {@link
 * io.dynamo.router.index.KvIndexer}. Does not depend on load, on the choice of ranks, or on the
 * transport of events.
 */
@NullMarked
package io.dynamo.router.index;

import org.jspecify.annotations.NullMarked;
