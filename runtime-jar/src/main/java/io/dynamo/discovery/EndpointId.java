package io.dynamo.discovery;

import java.util.ArrayList;
import java.util.List;

/**
 * The name of an endpoint that instances serve: namespace, component, endpoint. Dynamo's text forms
 * are {@code dyn://ns.comp.ep} and {@code ns/comp/ep}; a name must not contain {@code /}, because
 * keys are split there.
 */
public record EndpointId(String namespace, String component, String name) {
  public EndpointId {
    check("namespace", namespace);
    check("component", component);
    check("endpoint", name);
  }

  private static void check(String what, String value) {
    if (value.isEmpty() || value.indexOf('/') >= 0) {
      throw new IllegalArgumentException(
          "%s \"%s\" must be neither empty nor hold a slash".formatted(what, value));
    }
  }

  /**
   * Reads {@code dyn://ns.comp.ep}, {@code ns.comp.ep} or {@code ns/comp/ep}. A single part is the
   * component; parts beyond three join the endpoint with {@code _}; missing parts are {@code NS},
   * {@code C}, {@code E}.
   */
  public static EndpointId parse(String text) {
    var rest = text.startsWith("dyn://") ? text.substring("dyn://".length()) : text;
    List<String> parts = new ArrayList<>();
    for (var part : rest.strip().split("[./]", -1)) {
      if (!part.isBlank()) {
        parts.add(part.strip());
      }
    }
    return switch (parts.size()) {
      case 0 -> new EndpointId("NS", "C", "E");
      case 1 -> new EndpointId("NS", parts.get(0), "E");
      case 2 -> new EndpointId(parts.get(0), parts.get(1), "E");
      default ->
          new EndpointId(
              parts.get(0), parts.get(1), String.join("_", parts.subList(2, parts.size())));
    };
  }

  /** Returns the form {@code dyn://ns.comp.ep}. */
  public String url() {
    return "dyn://" + namespace + "." + component + "." + name;
  }

  /** Returns the form {@code ns/comp/ep}, as in discovery keys and request paths. */
  @Override
  public String toString() {
    return namespace + "/" + component + "/" + name;
  }
}
