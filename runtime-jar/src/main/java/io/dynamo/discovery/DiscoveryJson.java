package io.dynamo.discovery;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.model.ModelCardJson;
import io.dynamo.net.PayloadFormat;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes records as every store keeps them: one JSON object, tagged by {@code type}.
 * Unknown members are ignored when reading. For backends.
 */
public final class DiscoveryJson {
  private static final List<String> KNOWN_TRANSPORTS = List.of("tcp", "nats_tcp", "http2");

  private DiscoveryJson() {}

  public static byte[] encode(DiscoveryRecord record) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    switch (record) {
      case Instance instance -> putInstance(json, instance);
      case ModelRecord model -> putModel(json, model);
      case EventChannel channel -> putChannel(json, channel);
      case EventSource source -> putSource(json, source);
    }
    return Json.write(json);
  }

  /** Returns an instance as another record embeds it: without its type. */
  public static JsonObject quote(Instance instance) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    putMembers(json, instance);
    return new JsonObject(json);
  }

  private static void putInstance(Map<String, @Nullable Object> json, Instance instance) {
    json.put("type", "Endpoint");
    putMembers(json, instance);
  }

  private static void putMembers(Map<String, @Nullable Object> json, Instance instance) {
    json.put("component", instance.endpoint().component());
    json.put("endpoint", instance.endpoint().name());
    json.put("namespace", instance.endpoint().namespace());
    json.put("instance_id", Json.unsigned(instance.id().value()));
    json.put("transport", transport(dynamosFirst(instance.transport().each())));
    if (instance.deviceType() != null) {
      json.put("device_type", instance.deviceType());
    }
    json.put("request_plane_codec", instance.format().wireName());
    if (instance.transport() instanceof TransportAddress.Several several) {
      json.put("transports", several.all().stream().map(DiscoveryJson::transport).toList());
    }
  }

  /** Returns the first address that Dynamo's readers know, or the first of all. */
  private static TransportAddress dynamosFirst(List<TransportAddress> all) {
    for (var each : all) {
      if (!(each instanceof TransportAddress.Http2)) {
        return each;
      }
    }
    return all.getFirst();
  }

  private static Map<String, String> transport(TransportAddress address) {
    return switch (address) {
      case TransportAddress.Tcp tcp -> Map.of("tcp", tcp.toString());
      case TransportAddress.Nats nats -> Map.of("nats_tcp", nats.subject());
      case TransportAddress.Http2 http2 -> Map.of("http2", http2.toString());
      case TransportAddress.Several several -> transport(several.all().getFirst());
    };
  }

  private static void putModel(Map<String, @Nullable Object> json, ModelRecord model) {
    json.put("type", "Model");
    json.put("namespace", model.endpoint().namespace());
    json.put("component", model.endpoint().component());
    json.put("endpoint", model.endpoint().name());
    json.put("instance_id", Json.unsigned(model.id().value()));
    json.put("card_json", ModelCardJson.toJson(model.card()));
    if (model.suffix() != null) {
      json.put("model_suffix", model.suffix());
    }
  }

  private static void putChannel(Map<String, @Nullable Object> json, EventChannel channel) {
    json.put("type", "EventChannel");
    json.put("scope", EventScopeJson.write(channel.scope()));
    json.put("topic", channel.topic());
    json.put("instance_id", Json.unsigned(channel.publisherId()));
    json.put("transport", EventTransportJson.write(channel.transport()));
  }

  private static void putSource(Map<String, @Nullable Object> json, EventSource source) {
    json.put("type", "EventSource");
    json.put("scope", EventScopeJson.write(source.scope()));
    json.put("topic", source.topic());
    json.put("publisher_id", Json.unsigned(source.publisherId()));
    json.put("metadata", source.metadata().members());
  }

  /**
   * Decodes a record.
   *
   * @throws IllegalArgumentException when {@code json} is not a record of a supported kind; the
   *     message says why
   */
  public static DiscoveryRecord decode(byte[] json) {
    var object = Json.readObject(json);
    var type = object.text("type");
    return switch (type) {
      case "Endpoint" -> instance(object);
      case "Model" ->
          new ModelRecord(
              endpoint(object),
              new InstanceId(object.unsigned("instance_id")),
              ModelCardJson.fromJson(object.object("card_json")),
              object.optionalText("model_suffix"));
      case "EventChannel" ->
          new EventChannel(
              EventScopeJson.read(object.object("scope")),
              object.text("topic"),
              object.unsigned("instance_id"),
              EventTransportJson.read(object.object("transport")));
      case "EventSource" ->
          new EventSource(
              EventScopeJson.read(object.object("scope")),
              object.text("topic"),
              object.unsigned("publisher_id"),
              object.object("metadata"));
      default -> throw new IllegalArgumentException("type \"" + type + "\" is not known here");
    };
  }

  private static EndpointId endpoint(JsonObject json) {
    return new EndpointId(json.text("namespace"), json.text("component"), json.text("endpoint"));
  }

  /**
   * Reads an instance, also one embedded in another record.
   *
   * @throws IllegalArgumentException when {@code json} is not an instance; the message says why
   */
  public static Instance instance(JsonObject json) {
    return new Instance(
        endpoint(json),
        new InstanceId(json.unsigned("instance_id")),
        transports(json),
        json.optionalText("device_type"),
        PayloadFormat.ofWire(json.optionalText("request_plane_codec")));
  }

  /** Reads all transports of an instance; those of later versions are left out. */
  private static TransportAddress transports(JsonObject json) {
    var all = new ArrayList<TransportAddress>();
    for (var each : json.optionalObjects("transports")) {
      if (each.members().keySet().stream().anyMatch(KNOWN_TRANSPORTS::contains)) {
        all.add(transport(each));
      }
    }
    return all.isEmpty() ? transport(json.object("transport")) : TransportAddress.of(all);
  }

  private static TransportAddress transport(JsonObject json) {
    var tcp = json.optionalText("tcp");
    if (tcp != null) {
      return TransportAddress.Tcp.parse(tcp);
    }
    var nats = json.optionalText("nats_tcp");
    if (nats != null) {
      return new TransportAddress.Nats(nats);
    }
    var http2 = json.optionalText("http2");
    if (http2 != null) {
      return TransportAddress.Http2.parse(http2);
    }
    throw new IllegalArgumentException(
        "transport " + json.members().keySet() + " is none of " + KNOWN_TRANSPORTS);
  }
}
