package io.dynamo.discovery;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;

/**
 * The identity of one publisher, which subscribers need besides its address. A KV router ignores
 * the events of a publisher without one.
 *
 * @param metadata data specific to the kind of source; for {@code kv-events} see {@code
 *     io.dynamo.kv.KvEventSource}
 */
public record EventSource(EventScope scope, String topic, long publisherId, JsonObject metadata)
    implements DiscoveryRecord {
  public static final String BUCKET = "v1/event_sources";

  public EventSource {
    // normalizes number types to those of reading, so that a record equals itself after a round
    // trip
    metadata = Json.readObject(Json.write(metadata.members()));
  }

  @Override
  public String bucket() {
    return BUCKET;
  }

  @Override
  public String key() {
    return EventChannel.key(scope, topic, publisherId);
  }
}
