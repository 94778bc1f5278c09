package io.dynamo.config.plane;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.TEXT;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The settings of discovery through etcd, in the order of the documentation. */
public final class EtcdKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<List<URI>> ENDPOINTS =
      KEYS.key(
          "dynamo.discovery.etcd.endpoints",
          new SettingType<>("http or https URLs, comma-separated", EtcdKeys::urls),
          "http://localhost:2379",
          none(),
          "the members of etcd's cluster; with `https` all connections use TLS",
          plain("ETCD_ENDPOINTS"));
  static final SettingKey<Duration> LEASE_TTL =
      KEYS.key(
          "dynamo.discovery.etcd.lease-ttl",
          DURATION,
          "30s",
          between(Duration.ofSeconds(2), "2s", Duration.ofHours(1), "1h"),
          "how long etcd keeps the records of a process that renews its lease no more; renewed at a"
              + " third of it",
          numbered("ETCD_LEASE_TTL", "s"));
  static final SettingKey<String> USER =
      KEYS.key(
          "dynamo.discovery.etcd.user",
          TEXT,
          "",
          none(),
          "the user of etcd that reads and writes below `v1/`; absent: no authentication",
          plain("ETCD_AUTH_USERNAME"));
  static final SettingKey<String> PASSWORD =
      KEYS.key(
          "dynamo.discovery.etcd.password",
          new SettingType<>("text", text -> text, true),
          "",
          none(),
          "that user's password",
          plain("ETCD_AUTH_PASSWORD"));
  static final SettingKey<PemSource> AUTHORITIES =
      KEYS.key(
          "dynamo.discovery.etcd.tls.authorities",
          new SettingType<>("path, or PEM text", PemSource::parse),
          "",
          none(),
          "certificates that etcd's is checked against; absent: the JVM's",
          plain("ETCD_AUTH_CA"));
  static final SettingKey<PemSource> CERTIFICATE =
      KEYS.key(
          "dynamo.discovery.etcd.tls.certificate",
          new SettingType<>("path, or PEM text", PemSource::parse),
          "",
          none(),
          "the chain that is presented to etcd, its own certificate first",
          plain("ETCD_AUTH_CLIENT_CERT"));
  static final SettingKey<PemSource> KEY =
      KEYS.key(
          "dynamo.discovery.etcd.tls.key",
          new SettingType<>("path, or PEM text", PemSource::parse, true),
          "",
          none(),
          "its key, PKCS #8 without a password",
          plain("ETCD_AUTH_CLIENT_KEY"));
  static final SettingKey<Duration> CALL_TIMEOUT =
      KEYS.key(
          "dynamo.discovery.etcd.call-timeout", DURATION, "5s", WAIT, "how long one call may take");
  static final SettingKey<Duration> PING_INTERVAL =
      KEYS.key(
          "dynamo.discovery.etcd.ping-interval",
          DURATION,
          "10s",
          between(Duration.ofSeconds(5), "5s", Duration.ofHours(1), "1h"),
          "silence on a connection after which etcd is asked for a sign of life; etcd itself allows"
              + " 5s and more",
          numbered("ETCD_KEEPALIVE_INTERVAL_SECONDS", "s"));
  static final SettingKey<Duration> PING_TIMEOUT =
      KEYS.key(
          "dynamo.discovery.etcd.ping-timeout",
          DURATION,
          "5s",
          WAIT,
          "how long it may take to give one before the connection is ended",
          numbered("ETCD_KEEPALIVE_TIMEOUT_SECONDS", "s"));
  static final SettingKey<Duration> START_TIMEOUT =
      KEYS.key(
          "dynamo.discovery.etcd.start-timeout",
          DURATION,
          "120s",
          WAIT,
          "how long the start of a server waits for etcd",
          numbered("ETCD_STARTUP_CONNECT_TIMEOUT_SECONDS", "s"));

  private EtcdKeys() {}

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  private static List<URI> urls(String text) {
    var urls = new ArrayList<URI>();
    for (var part : text.split(",", -1)) {
      var url = part.strip();
      if (!url.isEmpty()) {
        urls.add(SettingType.HTTP_URL.parser().apply(url.contains("://") ? url : "http://" + url));
      }
    }
    if (urls.isEmpty()) {
      throw new IllegalArgumentException("names none");
    }
    if (urls.stream().map(EtcdSettings::isTls).distinct().count() > 1) {
      throw new IllegalArgumentException("mixes http and https");
    }
    return urls;
  }

  /** Refuses half of a pair, and files of TLS without TLS. */
  static void check(KeyReader reader) {
    reader.requireTogether(USER, PASSWORD);
    reader.requireTogether(CERTIFICATE, KEY);
    var endpoints = reader.optional(ENDPOINTS);
    if (endpoints != null && !EtcdSettings.isTls(endpoints.getFirst())) {
      for (var key : List.of(AUTHORITIES, CERTIFICATE)) {
        if (reader.has(key)) {
          reader.addProblem(
              "%s has no effect, since %s = \"%s\" is not TLS; write https there, or leave it out"
                  .formatted(key.name(), ENDPOINTS.name(), endpoints.getFirst()));
        }
      }
    }
  }

  static EtcdSettings read(KeyReader reader) {
    var user = reader.optional(USER);
    var password = reader.optional(PASSWORD);
    return new EtcdSettings(
        reader.get(ENDPOINTS),
        reader.get(LEASE_TTL),
        user == null || password == null ? null : new EtcdSettings.User(user, password),
        reader.optional(AUTHORITIES),
        reader.optional(CERTIFICATE),
        reader.optional(KEY),
        reader.get(CALL_TIMEOUT),
        reader.get(PING_INTERVAL),
        reader.get(PING_TIMEOUT),
        reader.get(START_TIMEOUT));
  }
}
