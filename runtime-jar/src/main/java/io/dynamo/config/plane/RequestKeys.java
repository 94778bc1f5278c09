package io.dynamo.config.plane;

import static io.dynamo.config.key.Alias.host;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.PORT;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.HTTP_PATH;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.IP_LITERAL;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import io.dynamo.config.plane.RequestSettings.Http2Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;

/** The settings that choose among request planes, and those of HTTP/2. */
public final class RequestKeys {
  private static final Pattern COMMA = Pattern.compile(",");
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<List<RequestPlane>> PLANES =
      KEYS.key(
          "dynamo.request.plane",
          new SettingType<>("tcp, nats and http2, comma-separated", RequestKeys::planes),
          "tcp",
          none(),
          "how requests reach our workers: a worker serves on all planes named here, a caller takes"
              + " the first of them that a worker has; without a common one tcp and http2 are"
              + " called all the same",
          plain("DYN_REQUEST_PLANE"));
  static final SettingKey<String> HTTP2_HOST =
      KEYS.key(
          "dynamo.request.http2.host",
          IP_LITERAL,
          "",
          none(),
          "bound and advertised by workers on http2; absent takes `dynamo.request.tcp.host`; off"
              + " loopback only with `dynamo.security.insecure`",
          host("DYN_HTTP_RPC_HOST"));
  static final SettingKey<Integer> HTTP2_PORT =
      KEYS.key(
          "dynamo.request.http2.port",
          INTEGER,
          "0",
          PORT,
          "the worker's HTTP/2 listener; 0 lets the system choose",
          plain("DYN_HTTP_RPC_PORT"));
  static final SettingKey<String> HTTP2_ROOT_PATH =
      KEYS.key(
          "dynamo.request.http2.root-path",
          HTTP_PATH,
          "/v1/rpc",
          none(),
          "precedes the path of every endpoint",
          plain("DYN_HTTP_RPC_ROOT_PATH"));

  private RequestKeys() {}

  private static List<RequestPlane> planes(String text) {
    var planes = new ArrayList<RequestPlane>();
    for (var part : COMMA.splitAsStream(text).toList()) {
      var plane = plane(part.strip());
      if (planes.contains(plane)) {
        throw new IllegalArgumentException("names " + SettingType.choice(plane) + " twice");
      }
      planes.add(plane);
    }
    return planes;
  }

  private static RequestPlane plane(String name) {
    return switch (name.toLowerCase(Locale.ROOT)) {
      case "tcp" -> RequestPlane.TCP;
      case "nats" -> RequestPlane.NATS;
      case "http2" -> RequestPlane.HTTP2;
      case "quic" ->
          throw new IllegalArgumentException(
              "names quic, over which nothing travels here; take tcp, nats or http2");
      default -> throw new IllegalArgumentException("is not tcp, nats or http2");
    };
  }

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /**
   * Refuses an address that other machines can reach without consent.
   *
   * @param insecure the consent
   */
  public static void check(KeyReader reader, SettingKey<Boolean> insecure) {
    reader.requireLoopback(HTTP2_HOST, insecure);
    reader.requireOneAddress(HTTP2_HOST);
  }

  /** Whether workers serve over NATS; false as well when the planes cannot be read. */
  static boolean hasNats(KeyReader reader) {
    var planes = reader.optional(PLANES);
    return planes != null && planes.contains(RequestPlane.NATS);
  }

  public static RequestSettings read(KeyReader reader) {
    var root = reader.get(HTTP2_ROOT_PATH);
    return new RequestSettings(
        reader.get(PLANES),
        new Http2Settings(
            Objects.requireNonNullElse(reader.optional(HTTP2_HOST), reader.get(TcpKeys.HOST)),
            reader.get(HTTP2_PORT),
            root.endsWith("/") ? root.substring(0, root.length() - 1) : root));
  }
}
