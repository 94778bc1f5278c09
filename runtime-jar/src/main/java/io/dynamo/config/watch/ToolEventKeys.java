package io.dynamo.config.watch;

import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.none;

import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The settings of the reports of tools. */
final class ToolEventKeys {
  private static final String PREFIX = "dynamo.frontend.request-trace.";
  private static final String SCHEME = "tcp://";
  private static final int MAX_PORT = 65_535;
  private static final int MAX_TOPIC_CHARS = 255;
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<InetSocketAddress> ENDPOINT =
      KEYS.key(
          PREFIX + "tool-events-endpoint",
          new SettingType<>("tcp://address:port", ToolEventKeys::address),
          "",
          none(),
          "where programs report their uses of tools, over ZeroMQ; off loopback only with"
              + " `dynamo.security.open-planes`; absent for nowhere",
          plain("DYN_REQUEST_TRACE_TOOL_EVENTS_ZMQ_ENDPOINT"));
  static final SettingKey<String> TOPIC =
      KEYS.key(
          PREFIX + "tool-events-topic",
          SettingType.TEXT,
          "agent-tool-events",
          new Bound<>("1 to 255 characters", text -> text.length() <= MAX_TOPIC_CHARS),
          "the first frame of the reports that are taken",
          plain("DYN_REQUEST_TRACE_TOOL_EVENTS_ZMQ_TOPIC"));

  private ToolEventKeys() {}

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  private static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    if (!text.startsWith(SCHEME) || colon < SCHEME.length()) {
      throw new IllegalArgumentException("is not tcp://address:port");
    }
    var host = text.substring(SCHEME.length(), colon);
    int port = port(text.substring(colon + 1));
    return switch (host) {
      case "*" -> new InetSocketAddress(port);
      case "localhost" -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
      default -> new InetSocketAddress(InetAddress.ofLiteral(host), port);
    };
  }

  private static int port(String text) {
    try {
      int port = Integer.parseInt(text);
      if (port >= 1 && port <= MAX_PORT) {
        return port;
      }
    } catch (NumberFormatException _) {
      // refused below
    }
    throw new IllegalArgumentException("has no port of 1 to " + MAX_PORT);
  }

  /**
   * Refuses reports that would not be recorded, and an address that other machines can reach
   * without consent.
   *
   * @param recorded whether records of tools are written, as far as the settings of records say
   * @param openPlanes the consent
   */
  static void check(KeyReader reader, boolean recorded, SettingKey<Boolean> openPlanes) {
    var endpoint = reader.optional(ENDPOINT);
    if (endpoint == null) {
      return;
    }
    if (!recorded) {
      reader.addProblem(
          "%s has no effect without tool in dynamo.frontend.request-trace.records; add it, or leave the address out"
              .formatted(ENDPOINT.name()));
    }
    if (!endpoint.getAddress().isLoopbackAddress()
        && !Boolean.TRUE.equals(reader.optional(openPlanes))) {
      reader.addProblem(
          "%s = \"tcp://%s:%d\" is reachable from other machines, and nothing there asks for credentials; bind 127.0.0.1, or accept that with %s=true"
              .formatted(
                  ENDPOINT.name(),
                  endpoint.getHostString(),
                  endpoint.getPort(),
                  openPlanes.name()));
    }
  }

  static @Nullable ToolEventSettings read(KeyReader reader) {
    var endpoint = reader.optional(ENDPOINT);
    return endpoint == null ? null : new ToolEventSettings(endpoint, reader.get(TOPIC));
  }
}
