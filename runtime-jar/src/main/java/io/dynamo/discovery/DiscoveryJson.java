package io.dynamo.discovery;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.model.ModelCardJson;
import io.dynamo.net.PayloadFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Records as they stand in every store: one JSON object, tagged by {@code type}. Unknown members
 * are left out when reading. For backends.
 */
public final class DiscoveryJson {
  private DiscoveryJson() {}

  public static byte[] encode(DiscoveryRecord record) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    switch (record) {
      case Instance instance -> putInstance(json, instance);
      case ModelRecord model -> putModel(json, model);
    }
    return Json.write(json);
  }

  private static void putInstance(Map<String, @Nullable Object> json, Instance instance) {
    json.put("type", "Endpoint");
    json.put("component", instance.endpoint().component());
    json.put("endpoint", instance.endpoint().name());
    json.put("namespace", instance.endpoint().namespace());
    json.put("instance_id", Json.unsigned(instance.id().value()));
    json.put("transport", transport(instance.transport()));
    if (instance.deviceType() != null) {
      json.put("device_type", instance.deviceType());
    }
    json.put("request_plane_codec", instance.format().wireName());
  }

  private static Map<String, String> transport(TransportAddress address) {
    return switch (address) {
      case TransportAddress.Tcp tcp -> Map.of("tcp", tcp.toString());
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

  /**
   * @throws IllegalArgumentException when {@code json} is no record of a kind that we read; the
   *     message says why
   */
  public static DiscoveryRecord decode(byte[] json) {
    var object = Json.readObject(json);
    var endpoint =
        new EndpointId(object.text("namespace"), object.text("component"), object.text("endpoint"));
    var id = new InstanceId(object.unsigned("instance_id"));
    var type = object.text("type");
    return switch (type) {
      case "Endpoint" ->
          new Instance(
              endpoint,
              id,
              transport(object.object("transport")),
              object.optionalText("device_type"),
              PayloadFormat.ofWire(object.optionalText("request_plane_codec")));
      case "Model" ->
          new ModelRecord(
              endpoint,
              id,
              ModelCardJson.fromJson(object.object("card_json")),
              object.optionalText("model_suffix"));
      default -> throw new IllegalArgumentException("type \"" + type + "\" is not known here");
    };
  }

  private static TransportAddress transport(JsonObject json) {
    var tcp = json.optionalText("tcp");
    if (tcp == null) {
      throw new IllegalArgumentException("transport " + json.members().keySet() + " is not tcp");
    }
    return TransportAddress.Tcp.parse(tcp);
  }
}
