package io.dynamo.kv;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventScope;
import io.dynamo.discovery.EventSource;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * The publisher of a rank's KV events, as registered in discovery.
 *
 * @param endpoint the endpoint in whose scope the events are published
 * @param recoveryTarget the instance that answers queries for lost events; null when there is none
 */
public record KvEventSource(
    EndpointId endpoint, WorkerRank rank, long publisherId, @Nullable Instance recoveryTarget) {
  /** The topic of KV events. */
  public static final String TOPIC = "kv-events";

  /**
   * Returns the endpoint name under which the source of {@code publisherId} answers recovery
   * queries.
   */
  public static String queryEndpoint(long publisherId) {
    return "worker_kv_query_source_" + Long.toHexString(publisherId);
  }

  public EventSource toRecord() {
    var metadata =
        JsonObject.ordered(
            "kv_state_endpoint",
            JsonObject.ordered(
                "namespace", endpoint.namespace(),
                "component", endpoint.component(),
                "name", endpoint.name()),
            "worker",
            JsonObject.ordered(
                "worker_id", Json.unsigned(rank.worker().value()), "dp_rank", rank.rank()),
            "publisher_id",
            publisherId);
    if (recoveryTarget != null) {
      metadata.put("recovery_target", DiscoveryJson.quote(recoveryTarget).members());
    }
    return new EventSource(
        new EventScope.OfEndpoint(endpoint), TOPIC, publisherId, new JsonObject(metadata));
  }

  /**
   * Reads a KV event source from its record.
   *
   * @throws IllegalArgumentException when {@code source} lacks a member; the message says why
   */
  public static KvEventSource of(EventSource source) {
    var metadata = source.metadata();
    var endpoint = metadata.object("kv_state_endpoint");
    var worker = metadata.object("worker");
    var target = metadata.optionalObject("recovery_target");
    long publisher = metadata.unsigned("publisher_id");
    if (publisher != source.publisherId()) {
      throw new IllegalArgumentException(
          "publisher %x tells the source of publisher %x"
              .formatted(source.publisherId(), publisher));
    }
    return new KvEventSource(
        new EndpointId(
            endpoint.text("namespace"), endpoint.text("component"), endpoint.text("name")),
        new WorkerRank(new InstanceId(worker.unsigned("worker_id")), worker.count("dp_rank")),
        publisher,
        target == null ? null : DiscoveryJson.instance(target));
  }
}
