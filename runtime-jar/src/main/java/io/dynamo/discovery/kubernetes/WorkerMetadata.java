package io.dynamo.discovery.kubernetes;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventScope;
import io.dynamo.discovery.EventSource;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.Watches;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads {@code spec.data} of an object: a map for each kind of record, from the record's
 * key to its JSON.
 */
final class WorkerMetadata {
  private static final Map<String, String> KINDS = // member of spec.data by bucket
      Map.of(
          Instance.BUCKET, "endpoints",
          ModelRecord.BUCKET, "model_cards",
          EventChannel.BUCKET, "event_channels",
          EventSource.BUCKET, "event_sources");

  private WorkerMetadata() {}

  static Map<String, @Nullable Object> write(Collection<DiscoveryRecord> records) {
    var data = new TreeMap<String, @Nullable Object>();
    var kinds = new HashMap<String, Map<String, Object>>();
    KINDS.values().forEach(kind -> kinds.put(kind, new TreeMap<>()));
    for (var record : records) {
      var json =
          new LinkedHashMap<String, @Nullable Object>(
              Json.readObject(DiscoveryJson.encode(record)).members());
      if (record instanceof EventChannel channel) {
        putOldForm(json, channel.scope());
      }
      Objects.requireNonNull(kinds.get(KINDS.get(record.bucket()))).put(record.key(), json);
    }
    data.putAll(kinds);
    return data;
  }

  /** Adds the fields that readers of Dynamo 1.2 expect in place of the scope. */
  private static void putOldForm(Map<String, @Nullable Object> json, EventScope scope) {
    switch (scope) {
      case EventScope.OfNamespace(var namespace) -> {
        json.put("namespace", namespace);
        json.put("component", "");
      }
      case EventScope.OfComponent(var namespace, var component) -> {
        json.put("namespace", namespace);
        json.put("component", component);
      }
      case EventScope.OfEndpoint(EndpointId endpoint) -> {
        json.put("namespace", endpoint.namespace());
        json.put("component", endpoint.component());
      }
    }
  }

  /**
   * Reads the records of an object by their paths. A missing map is empty.
   *
   * @param skipped receives the path and the reason for each value that is no record
   * @throws IllegalArgumentException when {@code data} has another form
   */
  static Map<String, DiscoveryRecord> read(
      Map<String, ? extends @Nullable Object> data, BiConsumer<String, String> skipped) {
    var records = new HashMap<String, DiscoveryRecord>();
    KINDS.forEach(
        (bucket, kind) -> {
          var values = data.get(kind);
          if (values == null) {
            return;
          }
          if (!(values instanceof Map<?, ?> map)) {
            throw new IllegalArgumentException(kind + " is no object");
          }
          map.forEach((key, value) -> read(bucket + "/" + key, value, records, skipped));
        });
    return records;
  }

  private static void read(
      String path,
      @Nullable Object value,
      Map<String, DiscoveryRecord> records,
      BiConsumer<String, String> skipped) {
    try {
      if (!(value instanceof Map<?, ?> json)) {
        throw new IllegalArgumentException("is no object");
      }
      var record = DiscoveryJson.decode(Json.write(JsonObject.of(json).members()));
      if (!Watches.path(record).equals(path)) {
        throw new IllegalArgumentException("holds the record of " + Watches.path(record));
      }
      records.put(path, record);
    } catch (RuntimeException e) {
      skipped.accept(path, String.valueOf(e.getMessage()));
    }
  }
}
