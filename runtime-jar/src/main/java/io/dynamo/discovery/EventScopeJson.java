package io.dynamo.discovery;

import io.dynamo.json.JsonObject;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Encodes scopes as in records: an object tagged by {@code kind}. */
final class EventScopeJson {
  private EventScopeJson() {}

  static Map<String, @Nullable Object> write(EventScope scope) {
    return switch (scope) {
      case EventScope.OfNamespace of ->
          JsonObject.ordered("kind", "namespace", "name", of.namespace());
      case EventScope.OfComponent of ->
          JsonObject.ordered(
              "kind", "component", "namespace", of.namespace(), "component", of.component());
      case EventScope.OfEndpoint of ->
          JsonObject.ordered("kind", "endpoint", "endpoint", endpoint(of.endpoint()));
    };
  }

  private static Map<String, @Nullable Object> endpoint(EndpointId id) {
    return JsonObject.ordered(
        "namespace", id.namespace(), "component", id.component(), "name", id.name());
  }

  static EventScope read(JsonObject json) {
    var kind = json.text("kind");
    return switch (kind) {
      case "namespace" -> new EventScope.OfNamespace(json.text("name"));
      case "component" ->
          new EventScope.OfComponent(json.text("namespace"), json.text("component"));
      case "endpoint" -> {
        var id = json.object("endpoint");
        yield new EventScope.OfEndpoint(
            new EndpointId(id.text("namespace"), id.text("component"), id.text("name")));
      }
      default -> throw new IllegalArgumentException("scope \"" + kind + "\" is not known here");
    };
  }
}
