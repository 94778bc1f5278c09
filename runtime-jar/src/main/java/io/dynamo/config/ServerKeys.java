package io.dynamo.config;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.PORT;
import static io.dynamo.config.key.Bound.WAIT_OR_NEVER;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.NAME;
import static io.dynamo.config.key.SettingType.NAMES;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.PATHS;
import static io.dynamo.config.key.SettingType.TEXT;
import static io.dynamo.config.key.SettingType.setOf;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** The settings of the server and of its HTTP port, in the order of the documentation. */
final class ServerKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Set<Role>> ROLES =
      KEYS.key(
          "dynamo.roles",
          setOf(Role.class),
          "frontend,router,worker",
          none(),
          "what this server plays");
  static final SettingKey<String> NAMESPACE =
      KEYS.key(
          "dynamo.namespace",
          NAME,
          "dynamo",
          none(),
          "first part of every endpoint's name",
          plain("DYN_NAMESPACE"));
  static final SettingKey<String> HTTP_HOST =
      KEYS.key(
          "dynamo.http.host",
          TEXT,
          "127.0.0.1",
          none(),
          "where the HTTP port is bound; off loopback only with"
              + " `dynamo.http.tls.client-authorities` or `dynamo.security.insecure`",
          plain("DYN_HTTP_HOST"));
  static final SettingKey<Integer> HTTP_PORT =
      KEYS.key("dynamo.http.port", INTEGER, "8000", PORT, "the HTTP port", plain("DYN_HTTP_PORT"));
  static final SettingKey<Integer> HTTP_MAX_CONNECTIONS =
      KEYS.key(
          "dynamo.http.max-connections",
          INTEGER,
          "16384",
          between(1, 1_000_000),
          "connections that the HTTP port holds open; more are closed at once");
  static final SettingKey<Path> HTTP_TLS_CERTIFICATE =
      KEYS.key(
          "dynamo.http.tls.certificate",
          PATH,
          "",
          none(),
          "PEM chain of the HTTP port, its own certificate first; the port then speaks TLS and"
              + " nothing else",
          plain("DYN_TLS_CERT_PATH"));
  static final SettingKey<Path> HTTP_TLS_KEY =
      KEYS.key(
          "dynamo.http.tls.key",
          PATH,
          "",
          none(),
          "PEM key of the HTTP port's certificate, without a password",
          plain("DYN_TLS_KEY_PATH"));
  static final SettingKey<Path> HTTP_TLS_CLIENT_AUTHORITIES =
      KEYS.key(
          "dynamo.http.tls.client-authorities",
          PATH,
          "",
          none(),
          "PEM certificates that clients are checked against; the HTTP port then demands one",
          plain("DYN_TLS_CLIENT_CA_CERT_PATH"));
  static final SettingKey<Boolean> INSECURE =
      KEYS.key(
          "dynamo.security.insecure",
          BOOLEAN,
          "false",
          none(),
          "allows addresses off loopback without authentication");
  static final SettingKey<Boolean> OPEN_PLANES =
      KEYS.key(
          "dynamo.security.open-planes",
          BOOLEAN,
          "false",
          none(),
          "allows planes off loopback that do not authenticate their peers, such as ZeroMQ, and records of"
              + " requests that leave the host without TLS");
  static final SettingKey<Boolean> ADMIN_REMOTE =
      KEYS.key(
          "dynamo.security.admin-remote",
          BOOLEAN,
          "false",
          none(),
          "whether `/busy_threshold` and `/console` answer callers of other machines and proxies");
  static final SettingKey<List<String>> ADMIN_NAMES =
      KEYS.key(
          "dynamo.security.admin-names",
          NAMES,
          "",
          none(),
          "host names under which administrative routes may be asked, beside addresses and"
              + " `localhost`");
  static final SettingKey<Duration> INHIBITED_DURATION =
      KEYS.key(
          "dynamo.runtime.inhibited-duration",
          DURATION,
          "5s",
          WAIT_OR_NEVER,
          "how long an instance is set aside after a failure; 0s never",
          numbered("DYN_RUNTIME_INHIBITED_DURATION_SECS", "s"));
  static final SettingKey<Duration> DRAIN_TIMEOUT =
      KEYS.key(
          "dynamo.runtime.drain-timeout",
          DURATION,
          "25s",
          WAIT_OR_NEVER,
          "how long running streams may take to end when the server stops; that long it answers 503",
          numbered("DYN_WORKER_GRACEFUL_SHUTDOWN_TIMEOUT", "s"));
  static final SettingKey<Duration> HANDOVER_AFTER =
      KEYS.key(
          "dynamo.runtime.handover-after",
          DURATION,
          "5s",
          WAIT_OR_NEVER,
          "when a draining worker begins to hand streams that it may not finish within the drain to"
              + " other workers, if there are any",
          numbered("DYN_GRACEFUL_SHUTDOWN_GRACE_PERIOD_SECS", "s"));
  static final SettingKey<List<Path>> NATIVE_EXTRACT_DIR =
      KEYS.key(
          "dynamo.native.extract-dir",
          PATHS,
          "${java.io.tmpdir},${server.output.dir}",
          none(),
          "where the native library may be unpacked, tried in order");
  static final SettingKey<Path> DUMP_TO =
      KEYS.key(
          "dynamo.config.dump-to",
          PATH,
          "",
          none(),
          "a file that the server writes all its settings to when it starts, as JSON, with where"
              + " each value is from",
          plain("DYN_DUMP_CONFIG_TO"));

  private ServerKeys() {}

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /** Refuses settings of the HTTP port that exclude or require each other. */
  static void check(KeyReader reader) {
    reader.requireTogether(HTTP_TLS_CERTIFICATE, HTTP_TLS_KEY);
    reader.requireWith(HTTP_TLS_CLIENT_AUTHORITIES, HTTP_TLS_CERTIFICATE);
    if (!reader.has(HTTP_TLS_CLIENT_AUTHORITIES)) {
      reader.requireLoopback(HTTP_HOST, INSECURE);
    }
  }

  static ServerSettings read(KeyReader reader) {
    return new ServerSettings(
        reader.get(ROLES),
        reader.get(NAMESPACE),
        reader.get(HTTP_HOST),
        reader.get(HTTP_PORT),
        reader.get(HTTP_MAX_CONNECTIONS),
        new HttpTlsSettings(
            reader.optional(HTTP_TLS_CERTIFICATE),
            reader.optional(HTTP_TLS_KEY),
            reader.optional(HTTP_TLS_CLIENT_AUTHORITIES)),
        reader.get(INSECURE),
        new AdminSettings(
            reader.get(ADMIN_REMOTE),
            Objects.requireNonNullElse(reader.optional(ADMIN_NAMES), List.of())),
        reader.get(INHIBITED_DURATION),
        reader.get(DRAIN_TIMEOUT),
        reader.get(HANDOVER_AFTER),
        reader.get(NATIVE_EXTRACT_DIR),
        reader.optional(DUMP_TO));
  }
}
