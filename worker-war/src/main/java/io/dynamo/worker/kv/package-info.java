/**
 * Publishes a worker's KV events. Start at {@link io.dynamo.worker.kv.KvEventPublisher}; of engines
 * it knows only their {@link io.dynamo.worker.engine.KvEventSink}.
 */
@NullMarked
package io.dynamo.worker.kv;

import org.jspecify.annotations.NullMarked;
