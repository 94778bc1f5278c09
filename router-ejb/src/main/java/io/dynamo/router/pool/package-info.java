/**
 * The cache that all workers of an endpoint share: SGLang's HiCache in a Mooncake store. Start at
 * {@link io.dynamo.router.pool.SharedPool}. Does not depend on the caches of single workers or on
 * costs.
 */
@NullMarked
package io.dynamo.router.pool;

import org.jspecify.annotations.NullMarked;
