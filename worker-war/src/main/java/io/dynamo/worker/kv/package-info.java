/**
 * KV events on their way out. Start at {@link io.dynamo.worker.kv.KvEventPublisher}; knows nothing
 * of engines but their {@link io.dynamo.worker.engine.KvEventSink}.
 */
@NullMarked
package io.dynamo.worker.kv;

import org.jspecify.annotations.NullMarked;
