/**
 * The cache that all workers of an endpoint share: SGLang's HiCache in a Mooncake store. Start at
 * {@link io.dynamo.router.pool.SharedPool}. Knows nothing of what single workers hold, nor of
 * costs.
 */
@NullMarked
package io.dynamo.router.pool;

import org.jspecify.annotations.NullMarked;
