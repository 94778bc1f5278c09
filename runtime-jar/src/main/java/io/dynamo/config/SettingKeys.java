package io.dynamo.config;

import static io.dynamo.config.Alias.host;
import static io.dynamo.config.Alias.numbered;
import static io.dynamo.config.Alias.plain;
import static io.dynamo.config.Bound.PORT;
import static io.dynamo.config.Bound.WAIT_OR_NEVER;
import static io.dynamo.config.Bound.between;
import static io.dynamo.config.Bound.none;
import static io.dynamo.config.Bound.sizeBetween;
import static io.dynamo.config.SettingType.BOOLEAN;
import static io.dynamo.config.SettingType.DURATION;
import static io.dynamo.config.SettingType.INTEGER;
import static io.dynamo.config.SettingType.IP_LITERAL;
import static io.dynamo.config.SettingType.NAME;
import static io.dynamo.config.SettingType.NAMES;
import static io.dynamo.config.SettingType.PATH;
import static io.dynamo.config.SettingType.PATHS;
import static io.dynamo.config.SettingType.SIZE;
import static io.dynamo.config.SettingType.TEXT;
import static io.dynamo.config.SettingType.oneOf;
import static io.dynamo.config.SettingType.setOf;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Every setting there is, in the order of the documentation. */
final class SettingKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Set<Role>> ROLES =
      KEYS.key(
          "dynamo.roles",
          setOf(Role.class),
          "frontend,router,worker",
          none(),
          "what this server plays");
  static final SettingKey<String> NAMESPACE =
      KEYS.key("dynamo.namespace", NAME, "dynamo", none(), "first part of every endpoint's name",
          plain("DYN_NAMESPACE"));
  static final SettingKey<String> HTTP_HOST =
      KEYS.key(
          "dynamo.http.host",
          TEXT,
          "127.0.0.1",
          none(),
          "where the HTTP port is bound; off loopback only with `dynamo.http.tls.client-authorities`"
              + " or `dynamo.security.insecure`",
          plain("DYN_HTTP_HOST"));
  static final SettingKey<Integer> HTTP_PORT =
      KEYS.key("dynamo.http.port", INTEGER, "8000", PORT, "the HTTP port",
          plain("DYN_HTTP_PORT"));
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
          "allows planes off loopback that do not authenticate their peers, such as ZeroMQ");
  static final SettingKey<Boolean> ADMIN_REMOTE =
      KEYS.key(
          "dynamo.security.admin-remote",
          BOOLEAN,
          "false",
          none(),
          "whether `/busy_threshold` answers callers of other machines and proxies");
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
          "how long running streams may take to end when the server stops; the server itself waits 30s",
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

  static final SettingKey<DiscoverySettings.Backend> DISCOVERY_BACKEND =
      KEYS.key(
          "dynamo.discovery.backend",
          oneOf(DiscoverySettings.Backend.class),
          "memory",
          none(),
          "who keeps the records of instances and models",
          new Alias("DYN_DISCOVERY_BACKEND", "", text -> text.equals("mem") ? "memory" : text));
  static final SettingKey<Path> DISCOVERY_FILE_ROOT =
      KEYS.key(
          "dynamo.discovery.file-root",
          PATH,
          "${TMPDIR:/tmp}/dynamo_store_kv",
          none(),
          "the store of the file backend, one folder for all processes of a user: made with mode"
              + " 700; refused when it belongs to somebody else, is a link or can be written by"
              + " others",
          plain("DYN_FILE_KV"));
  static final SettingKey<Boolean> DISCOVERY_FILE_SHARED =
      KEYS.key(
          "dynamo.discovery.file-shared",
          BOOLEAN,
          "false",
          none(),
          "uses that folder as it is found and trusts the records of everybody who can write it");
  static final SettingKey<Duration> DISCOVERY_LEASE_TTL =
      KEYS.key(
          "dynamo.discovery.lease-ttl",
          DURATION,
          "10s",
          between(Duration.ofSeconds(2), "2s", Duration.ofHours(1), "1h"),
          "how long a record outlives the last sign of life of its owner; Dynamo's own processes assume 10s");

  static {
    KEYS.addAll(ModelFileKeys.all());
    KEYS.addAll(TcpKeys.all());
  }

  static final SettingKey<EventSettings.Plane> EVENT_PLANE =
      KEYS.key(
          "dynamo.event.plane",
          oneOf(EventSettings.Plane.class),
          "zmq",
          none(),
          "how events travel; local stays within this server",
          plain("DYN_EVENT_PLANE"));
  static final SettingKey<Integer> EVENT_QUEUE_CAPACITY =
      KEYS.key(
          "dynamo.event.queue-capacity",
          INTEGER,
          "100000",
          between(1, 10_000_000),
          "events held per publisher and per subscription; more are dropped and counted",
          plain("DYN_ZMQ_EVENT_SUBSCRIBER_CHANNEL_CAPACITY"));
  static final SettingKey<Integer> EVENT_QUEUE_BYTES =
      KEYS.key(
          "dynamo.event.queue-bytes",
          SIZE,
          "256MiB",
          sizeBetween(1 << 20, "1MiB", 1 << 30, "1GiB"),
          "bytes of their payloads, per publisher and per subscription; more are dropped and"
              + " counted");
  static final SettingKey<String> EVENT_ZMQ_BIND =
      KEYS.key(
          "dynamo.event.zmq.bind",
          IP_LITERAL,
          "127.0.0.1",
          none(),
          "where publishers are bound; off loopback only with `dynamo.security.open-planes`");
  static final SettingKey<String> EVENT_ZMQ_HOST =
      KEYS.key(
          "dynamo.event.zmq.host",
          TEXT,
          "",
          none(),
          "what others are told to connect to; absent takes the bound address",
          host("DYN_EVENT_PLANE_HOST"));
  static final SettingKey<Integer> EVENT_ZMQ_HIGH_WATER_MARK =
      KEYS.key(
          "dynamo.event.zmq.high-water-mark",
          INTEGER,
          "100000",
          between(1, 10_000_000),
          "events that wait for one subscriber of a publisher, 16 MiB of them at most; more are"
              + " dropped for it alone and counted");
  static final SettingKey<Integer> EVENT_ZMQ_MAX_MESSAGE =
      KEYS.key(
          "dynamo.event.zmq.max-message",
          SIZE,
          "16MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "one event on the wire; a publisher that announces more is disconnected");
  static final SettingKey<ZmqBroker> EVENT_ZMQ_BROKER =
      KEYS.key(
          "dynamo.event.zmq.broker",
          new SettingType<>("xsub=tcp://host:port[;…], xpub=tcp://host:port[;…]", ZmqBroker::parse),
          "",
          none(),
          "what events go through: any XSUB/XPUB proxy, several for safety; absent, publishers are"
              + " found through discovery",
          plain("DYN_ZMQ_BROKER_URL"));

  static {
    KEYS.addAll(RouterKeys.all());
    KEYS.addAll(FrontendKeys.all());
    KEYS.addAll(MetricsKeys.all());
    KEYS.addAll(TraceKeys.all());
    KEYS.addAll(AdmissionKeys.all());
    KEYS.addAll(ApiKeys.all());
    KEYS.addAll(WorkerKeys.all());
    KEYS.addAll(EngineKeys.all());
    KEYS.addAll(StatusKeys.all());
  }

  private SettingKeys() {}

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }
}
