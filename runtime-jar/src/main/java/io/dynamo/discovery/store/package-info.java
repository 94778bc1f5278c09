/**
 * State that the processes of a cluster share in the store of their discovery: keys and values in
 * buckets, a lock and a barrier on them. Start at {@link io.dynamo.discovery.store.KeyValueStore}.
 * It knows no records of discovery.
 */
@NullMarked
package io.dynamo.discovery.store;

import org.jspecify.annotations.NullMarked;
