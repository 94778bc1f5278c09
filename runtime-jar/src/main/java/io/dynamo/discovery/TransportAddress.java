package io.dynamo.discovery;

import java.util.List;

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
   * A path of an HTTP/2 listener.
   *
   * @param secure whether the listener speaks TLS
   * @param address {@code ip:port}
   * @param path with its leading slash; a client sends it unchanged
   */
  record Http2(boolean secure, String address, String path) implements TransportAddress {
    private static final String CLEAR = "http://";
    private static final String TLS = "https://";

    /** Parses the form of the instance record, a URL. */
    public static Http2 parse(String text) {
      boolean secure = text.startsWith(TLS);
      var rest =
          text.substring(text.startsWith(CLEAR) ? CLEAR.length() : secure ? TLS.length() : 0);
      int slash = rest.indexOf('/');
      if (rest.length() == text.length() || slash <= 0) {
        throw new IllegalArgumentException(
            "http2 transport \"" + text + "\" is not http://ip:port/path");
      }
      return new Http2(secure, rest.substring(0, slash), rest.substring(slash));
    }

    @Override
    public String toString() {
      return (secure ? TLS : CLEAR) + address + path;
    }
  }

  /**
   * Several addresses of one instance, which serves on several planes while a cluster moves from
   * one to another.
   *
   * @param all at least two, of different kinds, in the order of the worker's preference
   */
  record Several(List<TransportAddress> all) implements TransportAddress {
    public Several {
      all = List.copyOf(all);
      if (all.size() < 2) {
        throw new IllegalArgumentException("an instance of several transports has " + all);
      }
    }

    /** Returns the failure of a caller that has not chosen one of them. */
    public IllegalStateException unchosen() {
      return new IllegalStateException("none of the transports " + all + " has been chosen");
    }
  }

  /** Returns the only address, or several as one. */
  static TransportAddress of(List<TransportAddress> all) {
    return all.size() == 1 ? all.getFirst() : new Several(all);
  }

  /** Returns the addresses of which this one consists: itself, unless it is several. */
  default List<TransportAddress> each() {
    return this instanceof Several several ? several.all() : List.of(this);
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
