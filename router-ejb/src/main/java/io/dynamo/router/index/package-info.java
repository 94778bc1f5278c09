/**
 * Which rank holds which prefix of KV blocks. Start at {@link io.dynamo.router.index.KvIndexer}.
 * Knows nothing of load, of choosing, or of how events arrive.
 */
@NullMarked
package io.dynamo.router.index;

import org.jspecify.annotations.NullMarked;
