/**
 * Changes to a worker rank's KV cache, as routers see them. Start at {@link io.dynamo.kv.KvEvent}.
 */
@NullMarked
package io.dynamo.kv;

import org.jspecify.annotations.NullMarked;
