package io.dynamo.discovery;

/** The address of an instance on the request plane. */
public sealed interface TransportAddress {
  /**
   * A shared TCP listener.
   *
   * @param address {@code ip:port}
   * @param path the path in request frames, {@code {id:x}/{ns}/{comp}/{endpoint}} since Dynamo
   *     1.6.1; a client sends it unchanged
   */
  record Tcp(String address, String path) implements TransportAddress {
    /** Parses the form of the instance record: address, slash, path. */
    public static Tcp parse(String text) {
      var rest = text.startsWith("tcp://") ? text.substring("tcp://".length()) : text;
      int slash = rest.indexOf('/');
      if (slash <= 0 || slash == rest.length() - 1) {
        throw new IllegalArgumentException("tcp transport \"" + text + "\" is not ip:port/path");
      }
      return new Tcp(rest.substring(0, slash), rest.substring(slash + 1));
    }

    @Override
    public String toString() {
      return address + "/" + path;
    }
  }

  /**
   * A subject of NATS servers; the answer travels over TCP.
   *
   * @param subject {@code {ns}_{comp}.{endpoint}-{id:x}}; a client uses it unchanged
   */
  record Nats(String subject) implements TransportAddress {
    /** Returns the subject of an instance as Dynamo writes it. */
    public static Nats of(EndpointId endpoint, InstanceId id) {
      return new Nats(
          "%s_%s.%s-%s"
              .formatted(endpoint.namespace(), endpoint.component(), endpoint.name(), id.hex()));
    }

    @Override
    public String toString() {
      return subject;
    }
  }
}
