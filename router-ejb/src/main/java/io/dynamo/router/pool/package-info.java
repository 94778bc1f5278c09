/**
 * What all workers of an endpoint can fetch from a cache that they share: SGLang's HiCache in a
 * store of Mooncake. Start at {@link io.dynamo.router.pool.SharedPool}. Knows nothing of what
 * single workers hold, nor of costs.
 */
@NullMarked
package io.dynamo.router.pool;

import org.jspecify.annotations.NullMarked;
