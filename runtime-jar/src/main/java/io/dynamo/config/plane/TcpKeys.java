package io.dynamo.config.plane;

import static io.dynamo.config.key.Alias.host;
import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.PORT;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.WAIT_OR_NEVER;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.IP_LITERAL;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.SIZE;
import static io.dynamo.config.key.SettingType.TEXT;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.net.PayloadFormat;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The settings of the TCP request plane, in the order of the documentation. */
public final class TcpKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<String> HOST =
      KEYS.key(
          "dynamo.request.tcp.host",
          IP_LITERAL,
          "127.0.0.1",
          none(),
          "bound and advertised; off loopback only with `dynamo.security.insecure`",
          host("DYN_TCP_RPC_HOST"));
  static final SettingKey<Integer> REQUEST_PORT =
      KEYS.key(
          "dynamo.request.tcp.request-port",
          INTEGER,
          "0",
          PORT,
          "the worker's listener; 0 lets the system choose",
          plain("DYN_TCP_RPC_PORT"));
  static final SettingKey<Integer> RESPONSE_PORT =
      KEYS.key(
          "dynamo.request.tcp.response-port",
          INTEGER,
          "0",
          PORT,
          "the frontend's call-home listener; 0 lets the system choose",
          plain("DYN_TCP_RESPONSE_STREAM_PORT"));
  static final SettingKey<String> RESPONSE_INTERFACE =
      KEYS.key(
          "dynamo.request.tcp.response-interface",
          TEXT,
          "",
          none(),
          "the network interface of the frontend's call-home listener, by name: its address is"
              + " bound and advertised in place of `host`; off loopback only with"
              + " `dynamo.security.insecure`",
          plain("DYN_TCP_RESPONSE_STREAM_HOST"));
  static final SettingKey<Integer> MAX_FRAME =
      KEYS.key(
          "dynamo.request.tcp.max-frame",
          SIZE,
          "32MiB",
          sizeBetween(1 << 16, "64KiB", 1 << 30, "1GiB"),
          "a whole request frame; the same on both sides",
          plain("DYN_TCP_MAX_MESSAGE_SIZE"));
  static final SettingKey<Duration> REQUEST_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.request-timeout",
          DURATION,
          "5s",
          WAIT,
          "from send to acknowledgement; a worker waits as long for the rest of a frame",
          numbered("DYN_TCP_REQUEST_TIMEOUT", "s"));
  static final SettingKey<Duration> CONNECT_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.connect-timeout",
          DURATION,
          "5s",
          WAIT,
          "for a connection to a worker, and before it as long for its turn",
          numbered("DYN_TCP_CONNECT_TIMEOUT", "s"));
  static final SettingKey<Duration> CALL_HOME_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.call-home-timeout",
          DURATION,
          "60s",
          WAIT,
          "the most from acknowledgement to the call of the worker; one of Dynamo's calls when the"
              + " turn of the request comes");
  static final SettingKey<Integer> POOL_SIZE =
      KEYS.key(
          "dynamo.request.tcp.pool-size",
          INTEGER,
          "8",
          between(1, 1024),
          "connections per worker address",
          plain("DYN_TCP_POOL_SIZE"));
  static final SettingKey<Duration> POOL_IDLE =
      KEYS.key(
          "dynamo.request.tcp.pool-idle",
          DURATION,
          "300s",
          WAIT,
          "how long a connection without requests is kept; looked at every half of it",
          numbered("DYN_TCP_HOST_IDLE_TTL_SECS", "s"));
  static final SettingKey<Integer> MAX_CONNECTING =
      KEYS.key(
          "dynamo.request.tcp.max-connecting",
          INTEGER,
          "64",
          between(1, 65536),
          "connections that are being established at once, to all workers; more wait their turn",
          plain("DYN_TCP_GLOBAL_CONNECT_LIMIT"));
  static final SettingKey<Boolean> WARM_UP =
      KEYS.key(
          "dynamo.request.tcp.warm-up",
          BOOLEAN,
          "true",
          none(),
          "whether a caller connects to a worker when it finds it, before the first request");
  static final SettingKey<Integer> STREAM_BUFFER =
      KEYS.key(
          "dynamo.request.tcp.stream-buffer",
          INTEGER,
          "64",
          between(1, 65536),
          "items buffered per stream");
  static final SettingKey<Integer> MAX_CONCURRENT_REQUESTS =
      KEYS.key(
          "dynamo.request.tcp.max-concurrent-requests",
          INTEGER,
          "10000",
          between(1, 1_000_000),
          "requests that a worker runs at once; more wait",
          plain("DYN_TCP_WORKER_POOL_SIZE"));
  static final SettingKey<PayloadFormat> REQUEST_CODEC =
      KEYS.key(
          "dynamo.request.codec",
          oneOf(PayloadFormat.class),
          "msgpack",
          none(),
          "what our workers advertise",
          plain("DYN_REQUEST_PLANE_CODEC"));

  static final SettingKey<Duration> PROLOGUE_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.prologue-timeout",
          DURATION,
          "120s",
          WAIT,
          "the most from the call of the worker to the prologue of the answer; a worker of ours"
              + " waits its turn in between");
  static final SettingKey<Duration> INACTIVITY_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.inactivity-timeout",
          DURATION,
          "0s",
          WAIT_OR_NEVER,
          "how long either side of a request that is itself a stream may stay silent while it is"
              + " read; 0s for ever");
  static final SettingKey<Duration> LEAST_START_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.least-start-timeout",
          DURATION,
          "5s",
          WAIT,
          "the least that a worker is given to call home, and then to begin; four times the slowest"
              + " of late when that is more, up to the two timeouts above");
  static final SettingKey<Duration> FIRST_ITEM_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.first-item-timeout",
          DURATION,
          "0s",
          WAIT_OR_NEVER,
          "from the prologue of an answer to its first item; 0s for ever, within the deadline of"
              + " the request",
          numbered("DYN_HTTP_BACKEND_STREAM_TIMEOUT_SECS", "s"));
  static final SettingKey<Duration> ITEM_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.item-timeout",
          DURATION,
          "30s",
          WAIT_OR_NEVER,
          "between two items of an answer that is read; 0s for ever",
          numbered("DYN_HTTP_BACKEND_STREAM_TIMEOUT_SECS", "s"));
  static final SettingKey<Duration> SILENCE =
      KEYS.key(
          "dynamo.request.tcp.silence",
          DURATION,
          "3s",
          WAIT_OR_NEVER,
          "after which the worker of an answer is asked for a sign of life; 0s never asks");
  static final SettingKey<Duration> PROBE_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.probe-timeout",
          DURATION,
          "2s",
          WAIT,
          "for a sign of life; a worker that is asked twice in vain is lost");
  static final SettingKey<Duration> WRITE_STALL =
      KEYS.key(
          "dynamo.request.tcp.write-stall",
          DURATION,
          "30s",
          WAIT,
          "how long a requester may take nothing of an answer that is there");
  static final SettingKey<Integer> MAX_UNSENT =
      KEYS.key(
          "dynamo.request.tcp.max-unsent",
          SIZE,
          "256MiB",
          sizeBetween(1 << 16, "64KiB", 1 << 30, "1GiB"),
          "requests that wait to be written, to all workers together, at most a sixteenth of the"
              + " heap; more are refused");
  static final SettingKey<Integer> MAX_CONNECTIONS =
      KEYS.key(
          "dynamo.request.tcp.max-connections",
          INTEGER,
          "65536",
          between(1, 1_000_000),
          "open connections per listener; more are closed at once");
  static final SettingKey<Integer> WORK_QUEUE =
      KEYS.key(
          "dynamo.request.tcp.work-queue",
          INTEGER,
          "40000",
          between(0, 1_000_000),
          "requests that wait in a worker for their turn; more are refused",
          plain("DYN_TCP_WORK_QUEUE_SIZE"));
  static final SettingKey<Integer> ENGINE_REQUEST_LIMIT =
      KEYS.key(
          "dynamo.request.tcp.engine-request-limit",
          INTEGER,
          "",
          between(1, 1_000_000),
          "strict admission: requests that a worker runs at once, in place of"
              + " `max-concurrent-requests`",
          plain("DYN_ENGINE_REQUEST_LIMIT"));
  static final SettingKey<Integer> ENGINE_QUEUE_LIMIT =
      KEYS.key(
          "dynamo.request.tcp.engine-queue-limit",
          INTEGER,
          "16",
          between(0, 1_000_000),
          "strict admission: requests that wait, in place of `work-queue`",
          plain("DYN_DYNAMO_REQUEST_QUEUE_LIMIT"));

  static final SettingKey<Path> TLS_CERTIFICATE =
      tlsFile(
          "certificate",
          "PEM chain of the listeners; switches TLS on for them",
          plain("DYN_TCP_TLS_CERT_PATH"));
  static final SettingKey<Path> TLS_KEY =
      tlsFile(
          "key",
          "PEM key of the listeners, PKCS #8 without a password",
          plain("DYN_TCP_TLS_KEY_PATH"));
  static final SettingKey<Path> TLS_AUTHORITIES =
      tlsFile(
          "authorities",
          "PEM certificates that listeners are checked against; switches TLS on for what connects",
          plain("DYN_TCP_TLS_CA_CERT_PATH"));
  static final SettingKey<Boolean> TLS_INSECURE =
      KEYS.key(
          "dynamo.request.tcp.tls.insecure",
          BOOLEAN,
          "false",
          none(),
          "switches TLS on for what connects and checks no listener's certificate",
          plain("DYN_TCP_TLS_INSECURE"));
  static final SettingKey<String> TLS_SERVER_NAME =
      KEYS.key(
          "dynamo.request.tcp.tls.server-name",
          TEXT,
          "",
          none(),
          "the name that every listener's certificate must have; absent takes the IP address"
              + " connected to",
          plain("DYN_TCP_TLS_SERVER_NAME"));
  static final SettingKey<Duration> TLS_HANDSHAKE_TIMEOUT =
      KEYS.key(
          "dynamo.request.tcp.tls.handshake-timeout",
          DURATION,
          "3s",
          WAIT,
          "for a TLS handshake",
          numbered("DYN_TCP_TLS_HANDSHAKE_TIMEOUT_SECS", "s"));
  static final SettingKey<Path> TLS_CLIENT_CERTIFICATE =
      tlsFile(
          "client-certificate",
          "PEM chain that what connects presents",
          plain("DYN_TCP_TLS_CLIENT_CERT_PATH"));
  static final SettingKey<Path> TLS_CLIENT_KEY =
      tlsFile(
          "client-key",
          "PEM key of what connects, PKCS #8 without a password",
          plain("DYN_TCP_TLS_CLIENT_KEY_PATH"));
  static final SettingKey<Path> TLS_CLIENT_AUTHORITIES =
      tlsFile(
          "client-authorities",
          "PEM certificates that who connects is checked against; listeners then demand one",
          plain("DYN_TCP_TLS_CLIENT_CA_CERT_PATH"));

  private TcpKeys() {}

  private static SettingKey<Path> tlsFile(String name, String meaning, Alias alias) {
    return KEYS.key("dynamo.request.tcp.tls." + name, PATH, "", none(), meaning, alias);
  }

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /**
   * Refuses addresses that other machines can reach without consent, and TLS settings that exclude
   * or require each other.
   *
   * @param insecure the consent
   */
  public static void check(KeyReader reader, SettingKey<Boolean> insecure) {
    reader.requireLoopback(HOST, insecure);
    reader.requireOneAddress(HOST);
    checkResponseInterface(reader, insecure);
    reader.requireTogether(TLS_CERTIFICATE, TLS_KEY);
    reader.requireTogether(TLS_CLIENT_CERTIFICATE, TLS_CLIENT_KEY);
    reader.requireWith(TLS_CLIENT_AUTHORITIES, TLS_CERTIFICATE);
    requireTlsToUse(reader, TLS_SERVER_NAME);
    requireTlsToUse(reader, TLS_CLIENT_CERTIFICATE);
    refuseUncheckedAuthorities(reader);
  }

  /**
   * Refuses an interface without an address, and one that other machines can reach, unless
   * accepted.
   */
  private static void checkResponseInterface(KeyReader reader, SettingKey<Boolean> insecure) {
    var name = reader.optional(RESPONSE_INTERFACE);
    if (name == null) {
      return;
    }
    String host;
    try {
      host = InterfaceAddress.of(name);
    } catch (IllegalArgumentException e) {
      reader.addProblem(
          "%s = \"%s\": %s".formatted(RESPONSE_INTERFACE.name(), name, e.getMessage()));
      return;
    }
    if (Boolean.FALSE.equals(reader.optional(insecure))
        && !InetAddress.ofLiteral(host).isLoopbackAddress()) {
      reader.addProblem(
          "%s = \"%s\" has the address %s, which is reachable from other machines, and nothing there asks for credentials; name a loopback interface, or accept that with %s=true"
              .formatted(RESPONSE_INTERFACE.name(), name, host, insecure.name()));
    }
  }

  private static String responseHost(KeyReader reader) {
    var name = reader.optional(RESPONSE_INTERFACE);
    return name == null ? reader.get(HOST) : InterfaceAddress.of(name);
  }

  /** Refuses {@code key} where no outgoing connection uses TLS. */
  private static void requireTlsToUse(KeyReader reader, SettingKey<?> key) {
    var value = reader.optional(key);
    if (value != null
        && reader.optional(TLS_AUTHORITIES) == null
        && !Boolean.TRUE.equals(reader.optional(TLS_INSECURE))) {
      reader.addProblem(
          "%s = \"%s\" has no effect without %s; set it, so that what connects speaks TLS"
              .formatted(key.name(), value, TLS_AUTHORITIES.name()));
    }
  }

  /**
   * Refuses authorities that nothing is checked against, because they would give the appearance of
   * a check.
   */
  private static void refuseUncheckedAuthorities(KeyReader reader) {
    var authorities = reader.optional(TLS_AUTHORITIES);
    if (authorities != null && Boolean.TRUE.equals(reader.optional(TLS_INSECURE))) {
      reader.addProblem(
          "%s = \"%s\" is not used with %s = \"true\", which checks nothing; leave one out"
              .formatted(TLS_AUTHORITIES.name(), authorities, TLS_INSECURE.name()));
    }
  }

  public static TcpSettings read(KeyReader reader) {
    return new TcpSettings(
        reader.get(HOST),
        responseHost(reader),
        reader.get(REQUEST_PORT),
        reader.get(RESPONSE_PORT),
        reader.get(MAX_FRAME),
        reader.get(MAX_UNSENT),
        reader.get(MAX_CONNECTIONS),
        new PoolSettings(
            reader.get(POOL_SIZE),
            reader.get(POOL_IDLE),
            reader.get(MAX_CONNECTING),
            reader.get(WARM_UP)),
        reader.get(STREAM_BUFFER),
        reader.get(REQUEST_CODEC),
        new TcpTimeouts(
            reader.get(REQUEST_TIMEOUT),
            reader.get(CONNECT_TIMEOUT),
            reader.get(CALL_HOME_TIMEOUT),
            reader.get(PROLOGUE_TIMEOUT),
            reader.get(INACTIVITY_TIMEOUT),
            reader.get(WRITE_STALL)),
        new SilenceSettings(
            reader.get(SILENCE),
            reader.get(PROBE_TIMEOUT),
            reader.get(ITEM_TIMEOUT),
            reader.get(FIRST_ITEM_TIMEOUT),
            reader.get(LEAST_START_TIMEOUT)),
        admission(reader),
        new TlsSettings(
            reader.optional(TLS_CERTIFICATE),
            reader.optional(TLS_KEY),
            reader.optional(TLS_AUTHORITIES),
            reader.get(TLS_INSECURE),
            reader.optional(TLS_SERVER_NAME),
            reader.get(TLS_HANDSHAKE_TIMEOUT),
            reader.optional(TLS_CLIENT_CERTIFICATE),
            reader.optional(TLS_CLIENT_KEY),
            reader.optional(TLS_CLIENT_AUTHORITIES)));
  }

  private static AdmissionSettings admission(KeyReader reader) {
    var engineLimit = reader.optional(ENGINE_REQUEST_LIMIT);
    return engineLimit == null
        ? new AdmissionSettings(reader.get(MAX_CONCURRENT_REQUESTS), reader.get(WORK_QUEUE))
        : new AdmissionSettings(engineLimit, reader.get(ENGINE_QUEUE_LIMIT));
  }
}
