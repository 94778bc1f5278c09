package io.dynamo.config;

import io.dynamo.config.Lookup.Found;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.Config;
import org.jspecify.annotations.Nullable;

/** Reads and checks all settings at once. One use, one thread. */
public final class SettingsReader {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{([^}:]+)(?::([^}]*))?}");

  private final Lookup lookup;
  private final Map<SettingKey<?>, Object> values = new HashMap<>(); // by the key that parsed them
  private final List<String> problems = new ArrayList<>();
  private final Set<String> unreadable = new LinkedHashSet<>(); // problems met by looking
  private final WorkerReader workers = new WorkerReader(this);

  private SettingsReader(Lookup lookup) {
    this.lookup = lookup;
  }

  /**
   * Reads what {@code config} says.
   *
   * @throws InvalidSettingsException listing every bad value
   */
  public static Settings read(Config config) {
    var sources = new SettingSources(config);
    return read(sources::find, sources.names(), new OperatorFile().problems());
  }

  /**
   * Reads what {@code lookup} finds; blank texts count as absent.
   *
   * @throws InvalidSettingsException listing every bad value
   */
  public static Settings read(Lookup lookup) {
    return read(lookup, List.of(), List.of());
  }

  /**
   * Reads what {@code lookup} finds.
   *
   * @param names all there are, to find those that mean nothing
   * @param problems that are known already
   */
  static Settings read(Lookup lookup, Collection<GivenName> names, List<String> problems) {
    var reader = new SettingsReader(lookup);
    reader.problems.addAll(problems);
    SettingKeys.all().forEach(reader::take);
    reader.requireTogether(SettingKeys.HTTP_TLS_CERTIFICATE, SettingKeys.HTTP_TLS_KEY);
    reader.requireWith(SettingKeys.HTTP_TLS_CLIENT_AUTHORITIES, SettingKeys.HTTP_TLS_CERTIFICATE);
    if (!reader.values.containsKey(SettingKeys.HTTP_TLS_CLIENT_AUTHORITIES)) {
      reader.requireLoopback(SettingKeys.HTTP_HOST, SettingKeys.INSECURE);
    }
    reader.requireLoopback(TcpKeys.HOST, SettingKeys.INSECURE);
    reader.requireOneAddress(TcpKeys.HOST);
    reader.requireTogether(TcpKeys.TLS_CERTIFICATE, TcpKeys.TLS_KEY);
    reader.requireTogether(TcpKeys.TLS_CLIENT_CERTIFICATE, TcpKeys.TLS_CLIENT_KEY);
    reader.requireWith(TcpKeys.TLS_CLIENT_AUTHORITIES, TcpKeys.TLS_CERTIFICATE);
    reader.requireTlsToUse(TcpKeys.TLS_SERVER_NAME);
    reader.requireTlsToUse(TcpKeys.TLS_CLIENT_CERTIFICATE);
    reader.refuseUncheckedAuthorities();
    reader.requireLoopback(SettingKeys.EVENT_ZMQ_BIND, SettingKeys.OPEN_PLANES);
    reader.requireReachableEventHost();
    reader.problems.addAll(new RouterReader(reader).problems());
    reader.problems.addAll(reader.workers.problems());
    reader.problems.addAll(reader.unknown(names));
    reader.problems.addAll(MetricsKeys.problems(reader));
    if (reader.values.get(StatusKeys.PORT) instanceof Integer port && port >= 0) {
      reader.requireLoopback(StatusKeys.HOST, SettingKeys.INSECURE);
    }
    reader.refuseProblems();
    return reader.settings();
  }

  /** What {@code lookup} says of the router, and nothing else. */
  static RouterSettings readRouter(Lookup lookup) {
    var reader = new SettingsReader(lookup);
    RouterKeys.all().forEach(reader::take);
    reader.problems.addAll(new RouterReader(reader).problems());
    reader.refuseProblems();
    return new RouterReader(reader).read();
  }

  private void refuseProblems() {
    problems.addAll(unreadable);
    if (!problems.isEmpty()) {
      throw new InvalidSettingsException(problems);
    }
  }

  private List<String> unknown(Collection<GivenName> names) {
    var keys = new HashSet<>(workers.ownKeys());
    SettingKeys.all().forEach(key -> keys.add(key.name()));
    return new UnknownNames(keys).problems(names);
  }

  <T> void take(SettingKey<T> key) {
    var found = find(key.name());
    String text;
    if (found != null) {
      text = found.text();
    } else {
      var standard = expand(key);
      if (standard == null || standard.isEmpty()) {
        return;
      }
      text = standard;
    }
    T value;
    try {
      value = key.type().parser().apply(text);
    } catch (IllegalArgumentException e) {
      problems.add(describe(key, text, found) + " " + e.getMessage() + advice(key));
      return;
    }
    if (!key.bound().holds().test(value)) {
      problems.add(describe(key, text, found) + " must be " + key.bound().text() + advice(key));
      return;
    }
    values.put(key, value);
  }

  private static String describe(SettingKey<?> key, String text, @Nullable Found found) {
    return "%s = \"%s\"%s"
        .formatted(
            key.name(),
            key.type().isSecret() ? "***" : text,
            found == null ? "" : " (from " + found.source() + ")");
  }

  private static String advice(SettingKey<?> key) {
    var bound = key.bound().text();
    return "; set %s%s, or leave it out for %s"
        .formatted(
            key.type().name(),
            bound.isEmpty() ? "" : " of " + bound,
            key.standard().isEmpty() ? "none" : "\"" + key.standard() + "\"");
  }

  private @Nullable Found find(String name) {
    Found found;
    try {
      found = lookup.find(name);
    } catch (IllegalArgumentException e) {
      unreadable.add(String.valueOf(e.getMessage()));
      return null;
    }
    return found == null || found.text().isBlank()
        ? null
        : new Found(found.text().strip(), found.source());
  }

  /** The default of {@code key} with its references replaced; null when one leads nowhere. */
  private @Nullable String expand(SettingKey<?> key) {
    var matcher = REFERENCE.matcher(key.standard());
    var text = new StringBuilder();
    while (matcher.find()) {
      var found = find(matcher.group(1));
      var value = found == null ? matcher.group(2) : found.text();
      if (value == null) {
        problems.add(
            "%s has the default \"%s\", but there is no %s here; set %s"
                .formatted(key.name(), key.standard(), matcher.group(1), key.name()));
        return null;
      }
      matcher.appendReplacement(text, Matcher.quoteReplacement(value));
    }
    return matcher.appendTail(text).toString();
  }

  private void requireLoopback(SettingKey<String> key, SettingKey<Boolean> unless) {
    if (values.get(key) instanceof String host
        && Boolean.FALSE.equals(values.get(unless))
        && !isLoopback(host)) {
      problems.add(
          "%s = \"%s\" is reachable from other machines, and nothing there asks for credentials; bind 127.0.0.1, or accept that with %s=true"
              .formatted(key.name(), host, unless.name()));
    }
  }

  /** Others must be able to connect to what they are told. */
  private void requireReachableEventHost() {
    if (!(values.get(SettingKeys.EVENT_ZMQ_BIND) instanceof String bind)) {
      return;
    }
    if (values.get(SettingKeys.EVENT_ZMQ_HOST) instanceof String host) {
      if (isLoopback(bind) && !isLoopback(host)) {
        problems.add(
            "%s = \"%s\" is what others connect to, but %s = \"%s\" hears this machine only; bind an address that is reachable there"
                .formatted(
                    SettingKeys.EVENT_ZMQ_HOST.name(),
                    host,
                    SettingKeys.EVENT_ZMQ_BIND.name(),
                    bind));
      }
    } else if (InetAddress.ofLiteral(bind).isAnyLocalAddress()) {
      problems.add(
          "%s = \"%s\" stands for every address of this host; say with %s which of them others connect to"
              .formatted(
                  SettingKeys.EVENT_ZMQ_BIND.name(), bind, SettingKeys.EVENT_ZMQ_HOST.name()));
    }
  }

  /** Refuses wildcards: what is bound is also what others are told to connect to. */
  private void requireOneAddress(SettingKey<String> key) {
    if (values.get(key) instanceof String host && InetAddress.ofLiteral(host).isAnyLocalAddress()) {
      problems.add(
          "%s = \"%s\" stands for every address of this host, but it is also what others connect to; name one address"
              .formatted(key.name(), host));
    }
  }

  private void requireTogether(SettingKey<?> one, SettingKey<?> other) {
    requireWith(one, other);
    requireWith(other, one);
  }

  /** Refuses {@code key} without {@code needed}: on its own it would be passed over in silence. */
  private void requireWith(SettingKey<?> key, SettingKey<?> needed) {
    var value = values.get(key);
    if (value != null && !values.containsKey(needed) && find(needed.name()) == null) {
      problems.add(
          "%s = \"%s\" has no effect without %s; set both, or neither"
              .formatted(key.name(), value, needed.name()));
    }
  }

  /** Refuses {@code key} where nothing that connects speaks TLS. */
  private void requireTlsToUse(SettingKey<?> key) {
    var value = values.get(key);
    if (value != null
        && values.get(TcpKeys.TLS_AUTHORITIES) == null
        && !Boolean.TRUE.equals(values.get(TcpKeys.TLS_INSECURE))) {
      problems.add(
          "%s = \"%s\" has no effect without %s; set it, so that what connects speaks TLS"
              .formatted(key.name(), value, TcpKeys.TLS_AUTHORITIES.name()));
    }
  }

  /** Authorities that nobody asks would look like a check that is made. */
  private void refuseUncheckedAuthorities() {
    var authorities = values.get(TcpKeys.TLS_AUTHORITIES);
    if (authorities != null && Boolean.TRUE.equals(values.get(TcpKeys.TLS_INSECURE))) {
      problems.add(
          "%s = \"%s\" is not used with %s = \"true\", which checks nothing; leave one out"
              .formatted(TcpKeys.TLS_AUTHORITIES.name(), authorities, TcpKeys.TLS_INSECURE.name()));
    }
  }

  /** Names other than {@code localhost} are not looked up: they count as reachable. */
  private static boolean isLoopback(String host) {
    if (host.equals("localhost")) {
      return true;
    }
    try {
      return InetAddress.ofLiteral(host).isLoopbackAddress();
    } catch (IllegalArgumentException _) {
      return false;
    }
  }

  @SuppressWarnings("unchecked") // a key's value was made by its own parser
  <T> @Nullable T optional(SettingKey<T> key) {
    return (T) values.get(key);
  }

  <T> T get(SettingKey<T> key) {
    return Objects.requireNonNull(optional(key), key.name());
  }

  private Settings settings() {
    return new Settings(
        server(),
        discovery(),
        tcp(),
        event(),
        new RouterReader(this).read(),
        frontend(),
        ApiKeys.read(this),
        workers.read(),
        StatusKeys.read(this),
        new WatchSettings(
            MetricsKeys.read(this), TraceKeys.read(this), get(FrontendKeys.REQUEST_LOG)));
  }

  private ServerSettings server() {
    return new ServerSettings(
        get(SettingKeys.ROLES),
        get(SettingKeys.NAMESPACE),
        get(SettingKeys.HTTP_HOST),
        get(SettingKeys.HTTP_PORT),
        get(SettingKeys.HTTP_MAX_CONNECTIONS),
        new HttpTlsSettings(
            optional(SettingKeys.HTTP_TLS_CERTIFICATE),
            optional(SettingKeys.HTTP_TLS_KEY),
            optional(SettingKeys.HTTP_TLS_CLIENT_AUTHORITIES)),
        get(SettingKeys.INSECURE),
        new AdminSettings(
            get(SettingKeys.ADMIN_REMOTE),
            Objects.requireNonNullElse(optional(SettingKeys.ADMIN_NAMES), List.of())),
        get(SettingKeys.INHIBITED_DURATION),
        get(SettingKeys.DRAIN_TIMEOUT),
        get(SettingKeys.HANDOVER_AFTER),
        get(SettingKeys.NATIVE_EXTRACT_DIR));
  }

  private DiscoverySettings discovery() {
    return new DiscoverySettings(
        get(SettingKeys.DISCOVERY_BACKEND),
        get(SettingKeys.DISCOVERY_FILE_ROOT),
        get(SettingKeys.DISCOVERY_FILE_SHARED),
        get(SettingKeys.DISCOVERY_LEASE_TTL),
        ModelFileKeys.read(this));
  }

  private TcpSettings tcp() {
    return new TcpSettings(
        get(TcpKeys.HOST),
        get(TcpKeys.REQUEST_PORT),
        get(TcpKeys.RESPONSE_PORT),
        get(TcpKeys.MAX_FRAME),
        get(TcpKeys.MAX_UNSENT),
        get(TcpKeys.MAX_CONNECTIONS),
        get(TcpKeys.POOL_SIZE),
        get(TcpKeys.STREAM_BUFFER),
        get(TcpKeys.REQUEST_CODEC),
        new TcpTimeouts(
            get(TcpKeys.REQUEST_TIMEOUT),
            get(TcpKeys.CONNECT_TIMEOUT),
            get(TcpKeys.CALL_HOME_TIMEOUT),
            get(TcpKeys.PROLOGUE_TIMEOUT),
            get(TcpKeys.INACTIVITY_TIMEOUT),
            get(TcpKeys.WRITE_STALL)),
        new SilenceSettings(
            get(TcpKeys.SILENCE),
            get(TcpKeys.PROBE_TIMEOUT),
            get(TcpKeys.ITEM_TIMEOUT),
            get(TcpKeys.FIRST_ITEM_TIMEOUT),
            get(TcpKeys.LEAST_START_TIMEOUT)),
        admission(),
        new TlsSettings(
            optional(TcpKeys.TLS_CERTIFICATE),
            optional(TcpKeys.TLS_KEY),
            optional(TcpKeys.TLS_AUTHORITIES),
            get(TcpKeys.TLS_INSECURE),
            optional(TcpKeys.TLS_SERVER_NAME),
            get(TcpKeys.TLS_HANDSHAKE_TIMEOUT),
            optional(TcpKeys.TLS_CLIENT_CERTIFICATE),
            optional(TcpKeys.TLS_CLIENT_KEY),
            optional(TcpKeys.TLS_CLIENT_AUTHORITIES)));
  }

  private AdmissionSettings admission() {
    var engineLimit = optional(TcpKeys.ENGINE_REQUEST_LIMIT);
    return engineLimit == null
        ? new AdmissionSettings(get(TcpKeys.MAX_CONCURRENT_REQUESTS), get(TcpKeys.WORK_QUEUE))
        : new AdmissionSettings(engineLimit, get(TcpKeys.ENGINE_QUEUE_LIMIT));
  }

  private EventSettings event() {
    return new EventSettings(
        get(SettingKeys.EVENT_PLANE),
        get(SettingKeys.EVENT_ZMQ_BIND),
        optional(SettingKeys.EVENT_ZMQ_HOST),
        get(SettingKeys.EVENT_QUEUE_CAPACITY),
        get(SettingKeys.EVENT_QUEUE_BYTES),
        get(SettingKeys.EVENT_ZMQ_HIGH_WATER_MARK),
        get(SettingKeys.EVENT_ZMQ_MAX_MESSAGE),
        optional(SettingKeys.EVENT_ZMQ_BROKER));
  }

  private FrontendSettings frontend() {
    int threads = get(FrontendKeys.PREPROCESS_THREADS);
    return new FrontendSettings(
        get(FrontendKeys.MIGRATION_LIMIT),
        get(FrontendKeys.MAX_CONCURRENT_REQUESTS),
        get(FrontendKeys.BODY_LIMIT),
        get(FrontendKeys.UPLOAD_TIMEOUT),
        get(FrontendKeys.REQUEST_TIMEOUT),
        get(FrontendKeys.FIRST_ITEM_WAIT),
        get(FrontendKeys.HEARTBEAT),
        get(FrontendKeys.WRITE_STALL),
        get(FrontendKeys.DISCONNECT_POLL),
        threads == 0 ? Runtime.getRuntime().availableProcessors() : threads,
        get(FrontendKeys.PREFIX_CACHE_BYTES),
        AdmissionKeys.read(this),
        get(AdmissionKeys.ADMIN_API));
  }
}
