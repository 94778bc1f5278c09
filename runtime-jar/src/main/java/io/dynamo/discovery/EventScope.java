package io.dynamo.discovery;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * The part of the system that events are about: a namespace, a component or an endpoint. Scopes are
 * exact: a subscriber to a component does not receive the events of its endpoints.
 */
public sealed interface EventScope {
  /** A whole namespace. */
  record OfNamespace(String namespace) implements EventScope {
    @Override
    public String path() {
      return "namespace/" + segment(namespace);
    }
  }

  /** One component. */
  record OfComponent(String namespace, String component) implements EventScope {
    @Override
    public String path() {
      return "namespace/" + segment(namespace) + "/component/" + segment(component);
    }
  }

  /** One endpoint. */
  record OfEndpoint(EndpointId endpoint) implements EventScope {
    @Override
    public String path() {
      return new OfComponent(endpoint.namespace(), endpoint.component()).path()
          + "/endpoint/"
          + segment(endpoint.name());
    }
  }

  /**
   * Returns the scope as in discovery keys, {@code namespace/{ns}[/component/{c}[/endpoint/{e}]]}.
   * Bytes of a name outside {@code A-Za-z0-9_-} are {@code %XX}.
   */
  String path();

  /** Returns the scope as in subjects: {@link #path()} with dots for slashes. */
  default String subject() {
    return path().replace('/', '.');
  }

  /** Escapes a name as it appears in a key. */
  static String segment(String name) {
    var key = new StringBuilder(name.length());
    for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      if ((c >= 'a' && c <= 'z')
          || (c >= 'A' && c <= 'Z')
          || (c >= '0' && c <= '9')
          || c == '_'
          || c == '-') {
        key.append(c);
      } else {
        key.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
      }
    }
    return key.toString();
  }
}
