package io.dynamo.config.frontend;

import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.PORT;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.SIZE;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.time.Duration;
import java.util.List;

/** The settings of the gRPC port, in the order of the documentation. */
public final class GrpcKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Boolean> ENABLED =
      KEYS.key(
          "dynamo.grpc.enabled",
          BOOLEAN,
          "false",
          none(),
          "whether KServe's gRPC service is served, on a port of its own beside the HTTP port, with"
              + " the host and the TLS files of that",
          plain("DYN_KSERVE_GRPC_SERVER"));
  static final SettingKey<Integer> PORT_NUMBER =
      KEYS.key("dynamo.grpc.port", INTEGER, "8001", PORT, "the gRPC port");
  static final SettingKey<Integer> MAX_CONNECTIONS =
      KEYS.key(
          "dynamo.grpc.max-connections",
          INTEGER,
          "4096",
          between(1, 1_000_000),
          "connections that the gRPC port holds open; more are closed at once");
  static final SettingKey<Integer> MAX_STREAMS =
      KEYS.key(
          "dynamo.grpc.max-streams",
          INTEGER,
          "256",
          between(1, 65_536),
          "calls that one connection may have open at once; a client's further calls wait with it");
  static final SettingKey<Integer> WINDOW =
      KEYS.key(
          "dynamo.grpc.window",
          SIZE,
          "256KiB",
          sizeBetween(16 << 10, "16KiB", 64 << 20, "64MiB"),
          "bytes that a connection, and each call on it, may send before they are read",
          plain("DYN_GRPC_INITIAL_STREAM_WINDOW_SIZE"));
  static final SettingKey<Duration> KEEP_ALIVE =
      KEYS.key(
          "dynamo.grpc.keep-alive",
          DURATION,
          "30s",
          between(Duration.ofSeconds(1), "1s", Duration.ofHours(1), "1h"),
          "silence of a connection before it is probed; one that does not answer within as long"
              + " again, at most 20s, is closed and its calls are cancelled");
  static final SettingKey<Duration> IDLE =
      KEYS.key(
          "dynamo.grpc.idle-timeout",
          DURATION,
          "5m",
          between(Duration.ofSeconds(1), "1s", Duration.ofHours(24), "24h"),
          "how long a connection without calls stays open, and a stream of requests without a"
              + " request under way");

  private GrpcKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static GrpcSettings read(KeyReader reader) {
    return new GrpcSettings(
        reader.get(ENABLED),
        reader.get(PORT_NUMBER),
        reader.get(MAX_CONNECTIONS),
        reader.get(MAX_STREAMS),
        reader.get(WINDOW),
        reader.get(KEEP_ALIVE),
        reader.get(IDLE));
  }
}
