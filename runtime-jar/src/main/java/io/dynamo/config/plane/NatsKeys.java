package io.dynamo.config.plane;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.SIZE;
import static io.dynamo.config.key.SettingType.TEXT;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import io.dynamo.config.plane.NatsSettings.EventStorage;
import io.dynamo.config.plane.NatsSettings.NatsIdentity;
import io.dynamo.config.plane.NatsSettings.NatsTlsSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** The settings of the connection to NATS servers, in the order of the documentation. */
public final class NatsKeys {
  private static final Set<String> SCHEMES = Set.of("nats", "tls");
  private static final Pattern COMMA = Pattern.compile(",");
  private static final SettingType<String> SECRET = new SettingType<>("text", text -> text, true);
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<List<URI>> SERVERS =
      KEYS.key(
          "dynamo.nats.servers",
          new SettingType<>("nats:// or tls:// URLs, comma-separated", NatsKeys::servers, true),
          "nats://localhost:4222",
          none(),
          "the NATS servers of planes that use NATS; several are members of one cluster",
          plain("NATS_SERVER"));
  static final SettingKey<String> USERNAME =
      KEYS.key(
          "dynamo.nats.username",
          TEXT,
          "",
          none(),
          "the user at the NATS servers; with no credentials at all, user with the password user,"
              + " as Dynamo does",
          plain("NATS_AUTH_USERNAME"));
  static final SettingKey<String> PASSWORD =
      KEYS.key(
          "dynamo.nats.password",
          SECRET,
          "",
          none(),
          "the password of that user",
          plain("NATS_AUTH_PASSWORD"));
  static final SettingKey<String> TOKEN =
      KEYS.key(
          "dynamo.nats.token",
          SECRET,
          "",
          none(),
          "a token in place of a user",
          plain("NATS_AUTH_TOKEN"));
  static final SettingKey<String> NKEY =
      KEYS.key(
          "dynamo.nats.nkey",
          SECRET,
          "",
          none(),
          "the seed of a user's NKey, in place of a user with a password",
          plain("NATS_AUTH_NKEY"));
  static final SettingKey<Path> CREDENTIALS_FILE =
      KEYS.key(
          "dynamo.nats.credentials-file",
          PATH,
          "",
          none(),
          "a file with a user's JWT and NKey seed, in place of a user with a password",
          plain("NATS_AUTH_CREDENTIALS_FILE"));
  static final SettingKey<Path> TLS_AUTHORITIES =
      KEYS.key(
          "dynamo.nats.tls.authorities",
          PATH,
          "",
          none(),
          "PEM certificates that the servers' are checked against; absent takes those of the JVM",
          plain("NATS_TLS_CA_CERT_PATH"));
  static final SettingKey<Boolean> TLS_INSECURE =
      KEYS.key(
          "dynamo.nats.tls.insecure",
          BOOLEAN,
          "false",
          none(),
          "uses TLS without checking the servers' certificates",
          plain("NATS_TLS_INSECURE"));
  static final SettingKey<Path> TLS_CLIENT_CERTIFICATE =
      KEYS.key(
          "dynamo.nats.tls.client-certificate",
          PATH,
          "",
          none(),
          "PEM chain that is presented to the servers",
          plain("NATS_TLS_CLIENT_CERT_PATH"));
  static final SettingKey<Path> TLS_CLIENT_KEY =
      KEYS.key(
          "dynamo.nats.tls.client-key",
          PATH,
          "",
          none(),
          "PEM key of that chain, PKCS #8 without a password",
          plain("NATS_TLS_CLIENT_KEY_PATH"));
  static final SettingKey<Duration> START_TIMEOUT =
      KEYS.key(
          "dynamo.nats.start-timeout",
          DURATION,
          "30s",
          WAIT,
          "how long the start waits for a NATS server; one that is lost later is awaited for ever");
  static final SettingKey<Boolean> JETSTREAM =
      KEYS.key(
          "dynamo.nats.jetstream.kv-events",
          BOOLEAN,
          "false",
          none(),
          "stores KV events in JetStream, from which routers that start are warm; needs"
              + " `dynamo.event.plane` = `nats` and servers with JetStream",
          plain("DYN_ROUTER_DURABLE_KV_EVENTS"));
  static final SettingKey<Duration> STREAM_MAX_AGE =
      KEYS.key(
          "dynamo.nats.jetstream.max-age",
          DURATION,
          "1h",
          between(Duration.ofSeconds(1), "1s", Duration.ofDays(30), "30d"),
          "how long stored events are kept",
          numbered("DYN_NATS_STREAM_MAX_AGE", "s"));
  static final SettingKey<Integer> STREAM_MAX_BYTES =
      KEYS.key(
          "dynamo.nats.jetstream.max-bytes",
          SIZE,
          "256MiB",
          sizeBetween(1 << 20, "1MiB", 1 << 30, "1GiB"),
          "stored events of one endpoint; the oldest are removed when there are more");
  static final SettingKey<Integer> SNAPSHOT_THRESHOLD =
      KEYS.key(
          "dynamo.nats.jetstream.snapshot-threshold",
          INTEGER,
          "1000000",
          between(1, 1_000_000_000),
          "stored messages of one endpoint from which a router writes a snapshot of the blocks"
              + " and removes the messages",
          plain("DYN_ROUTER_SNAPSHOT_THRESHOLD"));
  static final SettingKey<Boolean> RESET_STATES =
      KEYS.key(
          "dynamo.nats.jetstream.reset",
          BOOLEAN,
          "false",
          none(),
          "removes stored events and snapshot at the start of a router, which is then cold",
          plain("DYN_ROUTER_RESET_STATES"));

  private NatsKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  private static List<URI> servers(String text) {
    var servers =
        COMMA
            .splitAsStream(text)
            .map(String::strip)
            .filter(part -> !part.isEmpty())
            .map(NatsKeys::server)
            .toList();
    if (servers.isEmpty()) {
      throw new IllegalArgumentException("names no server");
    }
    return servers;
  }

  private static URI server(String text) {
    URI server;
    try {
      server = new URI(text.contains("://") ? text : "nats://" + text);
    } catch (URISyntaxException _) { // its message would show the text
      throw new IllegalArgumentException("holds something that is not a URL");
    }
    if (!SCHEMES.contains(server.getScheme()) || server.getHost() == null) {
      throw new IllegalArgumentException("is not nats://host:port or tls://host:port");
    }
    if (server.getUserInfo() != null) {
      throw new IllegalArgumentException(
          "holds credentials; set dynamo.nats.username and dynamo.nats.password instead");
    }
    return server;
  }

  /**
   * Refuses credentials that are incomplete, files that would not be used, and servers off loopback
   * that are reached without TLS and without consent.
   *
   * @param openPlanes the consent
   * @param records whether records of requests go there
   */
  public static void check(KeyReader reader, SettingKey<Boolean> openPlanes, boolean records) {
    if (reader.has(USERNAME) != reader.has(PASSWORD)) {
      reader.addProblem(
          "%s and %s have no effect without each other; set both, or neither"
              .formatted(USERNAME.name(), PASSWORD.name()));
    }
    reader.requireTogether(TLS_CLIENT_CERTIFICATE, TLS_CLIENT_KEY);
    if (reader.has(TLS_AUTHORITIES) && Boolean.TRUE.equals(reader.optional(TLS_INSECURE))) {
      reader.addProblem(
          "%s is not used with %s = \"true\", which checks nothing; leave one out"
              .formatted(TLS_AUTHORITIES.name(), TLS_INSECURE.name()));
    }
    if (Boolean.TRUE.equals(reader.optional(JETSTREAM))
        && reader.optional(EventKeys.PLANE) != EventSettings.Plane.NATS) {
      reader.addProblem(
          "%s = \"true\" stores what travels over NATS, and events do not; set %s = \"nats\", or leave it out"
              .formatted(JETSTREAM.name(), EventKeys.PLANE.name()));
    }
    var servers = reader.optional(SERVERS);
    if (servers == null
        || (!records
            && reader.optional(EventKeys.PLANE) != EventSettings.Plane.NATS
            && !RequestKeys.hasNats(reader))
        || Boolean.TRUE.equals(reader.optional(openPlanes))
        || tls(reader).isSet()) {
      return;
    }
    for (var server : servers) {
      if (server.getScheme().equals("nats") && !KeyReader.isLoopback(hostOf(server))) {
        reader.addProblem(
            "%s names %s, which is reached in the clear; use tls://, set %s, or accept that with %s=true"
                .formatted(
                    SERVERS.name(), server.getHost(), TLS_AUTHORITIES.name(), openPlanes.name()));
      }
    }
  }

  private static String hostOf(URI server) {
    var host = server.getHost();
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  public static NatsSettings read(KeyReader reader) {
    return new NatsSettings(
        reader.get(SERVERS),
        identity(reader),
        tls(reader),
        reader.get(START_TIMEOUT),
        reader.get(JETSTREAM)
            ? new EventStorage(
                reader.get(STREAM_MAX_AGE),
                reader.get(STREAM_MAX_BYTES),
                reader.get(SNAPSHOT_THRESHOLD),
                reader.get(RESET_STATES))
            : null);
  }

  private static NatsTlsSettings tls(KeyReader reader) {
    return new NatsTlsSettings(
        reader.optional(TLS_AUTHORITIES),
        Boolean.TRUE.equals(reader.optional(TLS_INSECURE)),
        reader.optional(TLS_CLIENT_CERTIFICATE),
        reader.optional(TLS_CLIENT_KEY));
  }

  /** Returns the credentials; of several, those that come first in Dynamo's order. */
  private static NatsIdentity identity(KeyReader reader) {
    var name = reader.optional(USERNAME);
    var password = reader.optional(PASSWORD);
    if (name != null && password != null) {
      return new NatsIdentity.User(name, password);
    }
    var token = reader.optional(TOKEN);
    if (token != null) {
      return new NatsIdentity.Token(token);
    }
    var seed = reader.optional(NKEY);
    if (seed != null) {
      return new NatsIdentity.NKey(seed);
    }
    var file = reader.optional(CREDENTIALS_FILE);
    return file == null
        ? new NatsIdentity.User("user", "user")
        : new NatsIdentity.Credentials(file);
  }
}
