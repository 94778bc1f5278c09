package io.dynamo.discovery;

import io.dynamo.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Encodes event transports as in records: {@code kind} and its {@code config}. */
final class EventTransportJson {
  private EventTransportJson() {}

  static Map<String, @Nullable Object> write(EventTransport transport) {
    return switch (transport) {
      case EventTransport.Zmq zmq -> tagged("Zmq", Map.of("endpoint", zmq.endpoint()));
      case EventTransport.ZmqBroker broker ->
          tagged(
              "ZmqBroker",
              JsonObject.ordered("xsub_endpoints", broker.xsub(), "xpub_endpoints", broker.xpub()));
      case EventTransport.Nats nats ->
          tagged("Nats", Map.of("subject_prefix", nats.subjectPrefix()));
    };
  }

  private static Map<String, @Nullable Object> tagged(
      String kind, Map<String, ? extends @Nullable Object> config) {
    return JsonObject.ordered("kind", kind, "config", config);
  }

  static EventTransport read(JsonObject json) {
    var kind = json.text("kind");
    var config = json.object("config");
    return switch (kind) {
      case "Zmq" -> new EventTransport.Zmq(config.text("endpoint"));
      case "ZmqBroker" ->
          new EventTransport.ZmqBroker(
              texts(config, "xsub_endpoints"), texts(config, "xpub_endpoints"));
      case "Nats" -> new EventTransport.Nats(config.text("subject_prefix"));
      default -> throw new IllegalArgumentException("transport \"" + kind + "\" is not known here");
    };
  }

  private static List<String> texts(JsonObject json, String name) {
    var texts = new ArrayList<String>();
    for (var value : json.list(name)) {
      if (!(value instanceof String text)) {
        throw new IllegalArgumentException("member \"" + name + "\" is not a list of texts");
      }
      texts.add(text);
    }
    return texts;
  }
}
