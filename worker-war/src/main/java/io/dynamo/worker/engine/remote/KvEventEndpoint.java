package io.dynamo.worker.engine.remote;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Where one rank of a server publishes its KV events.
 *
 * @param events address of the PUB socket, {@code tcp://host:port}
 * @param replay address of the socket that repeats events; null when there is none
 */
public record KvEventEndpoint(String events, @Nullable String replay) {
  private static final int MAX_PORT = 65_535;

  /**
   * Reads addresses as vLLM and SGLang report them, with {@code *} or {@code [::]} for every
   * interface; those that have neither they do not bind, but connect to.
   *
   * @param host the server's host, which takes the place of {@code *}
   * @throws IllegalArgumentException when an address is not {@code tcp://host:port}, or not bound
   */
  public static KvEventEndpoint ofServer(String host, String events, @Nullable String replay) {
    if (!events.contains("*") && !events.contains("::")) {
      throw new IllegalArgumentException(
          "the server sends its KV events to %s instead of serving them; start it with tcp://*:port"
              .formatted(events));
    }
    return of(host, events, replay);
  }

  /**
   * Reads addresses; {@code *} and {@code [::]} stand for the server's host.
   *
   * @throws IllegalArgumentException when an address is not {@code tcp://host:port}
   */
  public static KvEventEndpoint of(String host, String events, @Nullable String replay) {
    return new KvEventEndpoint(
        reachable(host, events), replay == null ? null : reachable(host, replay));
  }

  private static String reachable(String host, String bound) {
    if (!bound.startsWith("tcp://")) {
      throw new IllegalArgumentException(
          "KV events come by %s, only tcp://host:port is read".formatted(bound));
    }
    var at = bound.replaceFirst("://(\\*|\\[::]):", "://" + host + ":");
    var address = URI.create(at);
    if (address.getHost() == null || address.getPort() < 1 || address.getPort() > MAX_PORT) {
      throw new IllegalArgumentException(
          "%s is not tcp://host:port with a port from 1 to %d".formatted(bound, MAX_PORT));
    }
    return at;
  }

  /**
   * Returns the addresses of another rank, whose ports are higher by its number.
   *
   * @throws IllegalArgumentException when there is no such port
   */
  public KvEventEndpoint ofRank(int rank) {
    return new KvEventEndpoint(
        shifted(events, rank), replay == null ? null : shifted(replay, rank));
  }

  private static String shifted(String address, int by) {
    int colon = address.lastIndexOf(':');
    int port = Integer.parseInt(address.substring(colon + 1)) + by;
    if (port > MAX_PORT) {
      throw new IllegalArgumentException(
          "KV events of rank %d would come from port %d, %d above that of %s, and ports end at %d; give rank 0 a lower port, at the server and in dynamo.worker.remote.kv-events"
              .formatted(by, port, by, address, MAX_PORT));
    }
    return address.substring(0, colon + 1) + port;
  }
}
