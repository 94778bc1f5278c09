package io.dynamo.config;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * The environment names of the original Dynamo, as far as a setting of ours means the same. Below
 * the environment names of MicroProfile Config ({@code DYNAMO_HTTP_PORT}), above every file. What
 * cannot be translated is passed on as it stands, for the setting to refuse. Immutable.
 */
public final class EnvironmentAliases implements ConfigSource {
  static final int ORDINAL = 290;
  static final String NAME = "DYN_* environment";

  /**
   * One alias.
   *
   * @param unit the unit of the original's number, appended to it; empty for none
   */
  record Alias(String variable, String key, String unit, UnaryOperator<String> translation) {}

  private static final List<Alias> OWN =
      List.of(
          plain("DYN_NAMESPACE", SettingKeys.NAMESPACE),
          plain("DYN_HTTP_HOST", SettingKeys.HTTP_HOST),
          plain("DYN_HTTP_PORT", SettingKeys.HTTP_PORT),
          plain("DYN_TLS_CERT_PATH", SettingKeys.HTTP_TLS_CERTIFICATE),
          plain("DYN_TLS_KEY_PATH", SettingKeys.HTTP_TLS_KEY),
          plain("DYN_TLS_CLIENT_CA_CERT_PATH", SettingKeys.HTTP_TLS_CLIENT_AUTHORITIES),
          numbered("DYN_RUNTIME_INHIBITED_DURATION_SECS", SettingKeys.INHIBITED_DURATION, "s"),
          numbered("DYN_WORKER_GRACEFUL_SHUTDOWN_TIMEOUT", SettingKeys.DRAIN_TIMEOUT, "s"),
          numbered("DYN_GRACEFUL_SHUTDOWN_GRACE_PERIOD_SECS", SettingKeys.HANDOVER_AFTER, "s"),
          new Alias(
              "DYN_DISCOVERY_BACKEND",
              SettingKeys.DISCOVERY_BACKEND.name(),
              "",
              text -> text.equals("mem") ? "memory" : text),
          plain("DYN_FILE_KV", SettingKeys.DISCOVERY_FILE_ROOT),
          new Alias(
              "DYN_TCP_RPC_HOST", TcpKeys.HOST.name(), "", EnvironmentAliases::withoutBrackets),
          plain("DYN_TCP_RPC_PORT", TcpKeys.REQUEST_PORT),
          plain("DYN_TCP_RESPONSE_STREAM_PORT", TcpKeys.RESPONSE_PORT),
          plain("DYN_TCP_MAX_MESSAGE_SIZE", TcpKeys.MAX_FRAME),
          numbered("DYN_TCP_REQUEST_TIMEOUT", TcpKeys.REQUEST_TIMEOUT, "s"),
          numbered("DYN_TCP_CONNECT_TIMEOUT", TcpKeys.CONNECT_TIMEOUT, "s"),
          plain("DYN_TCP_POOL_SIZE", TcpKeys.POOL_SIZE),
          plain("DYN_TCP_WORKER_POOL_SIZE", TcpKeys.MAX_CONCURRENT_REQUESTS),
          plain("DYN_TCP_WORK_QUEUE_SIZE", TcpKeys.WORK_QUEUE),
          plain("DYN_ENGINE_REQUEST_LIMIT", TcpKeys.ENGINE_REQUEST_LIMIT),
          plain("DYN_DYNAMO_REQUEST_QUEUE_LIMIT", TcpKeys.ENGINE_QUEUE_LIMIT),
          numbered("DYN_HTTP_BACKEND_STREAM_TIMEOUT_SECS", TcpKeys.ITEM_TIMEOUT, "s"),
          plain("DYN_TCP_TLS_CERT_PATH", TcpKeys.TLS_CERTIFICATE),
          plain("DYN_TCP_TLS_KEY_PATH", TcpKeys.TLS_KEY),
          plain("DYN_TCP_TLS_CA_CERT_PATH", TcpKeys.TLS_AUTHORITIES),
          plain("DYN_TCP_TLS_INSECURE", TcpKeys.TLS_INSECURE),
          plain("DYN_TCP_TLS_SERVER_NAME", TcpKeys.TLS_SERVER_NAME),
          numbered("DYN_TCP_TLS_HANDSHAKE_TIMEOUT_SECS", TcpKeys.TLS_HANDSHAKE_TIMEOUT, "s"),
          plain("DYN_TCP_TLS_CLIENT_CERT_PATH", TcpKeys.TLS_CLIENT_CERTIFICATE),
          plain("DYN_TCP_TLS_CLIENT_KEY_PATH", TcpKeys.TLS_CLIENT_KEY),
          plain("DYN_TCP_TLS_CLIENT_CA_CERT_PATH", TcpKeys.TLS_CLIENT_AUTHORITIES),
          plain("DYN_MODEL_NAME", WorkerKeys.MODEL_NAME),
          plain("DYN_MODEL_PATH", WorkerKeys.MODEL_PATH),
          plain("DYN_TOOL_CALL_PARSER", WorkerKeys.TOOL_CALL_PARSER),
          plain("DYN_REASONING_PARSER", WorkerKeys.REASONING_PARSER),
          plain("DYN_HEALTH_CHECK_PAYLOAD", WorkerKeys.HEALTH_PAYLOAD),
          numbered("DYN_ENGINE_HEALTH_CHECK_TIMEOUT", WorkerKeys.STALL_TIMEOUT, "s"),
          plain("DYN_REQUEST_PLANE_CODEC", TcpKeys.REQUEST_CODEC),
          plain("DYN_EVENT_PLANE", SettingKeys.EVENT_PLANE),
          plain("DYN_ZMQ_EVENT_SUBSCRIBER_CHANNEL_CAPACITY", SettingKeys.EVENT_QUEUE_CAPACITY),
          new Alias(
              "DYN_EVENT_PLANE_HOST",
              SettingKeys.EVENT_ZMQ_HOST.name(),
              "",
              EnvironmentAliases::withoutBrackets),
          plain("DYN_ZMQ_BROKER_URL", SettingKeys.EVENT_ZMQ_BROKER),
          plain("DYN_MIGRATION_LIMIT", FrontendKeys.MIGRATION_LIMIT),
          plain("DYN_TOKENIZER_CACHE_BYTES", FrontendKeys.PREFIX_CACHE_BYTES),
          numbered("DYN_HTTP_BODY_LIMIT_MB", FrontendKeys.BODY_LIMIT, "MiB"),
          numbered("DYN_HTTP_PRE_COMMIT_ERROR_PEEK_MS", FrontendKeys.FIRST_ITEM_WAIT, "ms"),
          plain("DYN_HTTP_OVERLOAD_STATUS_CODE", AdmissionKeys.OVERLOAD_STATUS),
          new Alias(
              "DYN_DISABLE_FRONTEND_ADMIN_API",
              AdmissionKeys.ADMIN_API.name(),
              "",
              EnvironmentAliases::not),
          plain("DYN_SYSTEM_HOST", StatusKeys.HOST),
          plain("DYN_SYSTEM_PORT", StatusKeys.PORT),
          plain("DYN_SYSTEM_HEALTH_PATH", StatusKeys.HEALTH_PATH),
          plain("DYN_SYSTEM_LIVE_PATH", StatusKeys.LIVE_PATH),
          plain("DYN_SYSTEM_STARTING_HEALTH_STATUS", StatusKeys.STARTING),
          new Alias(
              "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS",
              StatusKeys.ENDPOINTS.name(),
              "",
              text -> text.replaceAll("[\\[\\]\"\\s]", "")),
          plain("DYN_SELF_HOST_METADATA", StatusKeys.SELF_HOST),
          plain("DYN_LORA_ENABLED", StatusKeys.LORA_ROUTES),
          plain("DYN_HEALTH_CHECK_ENABLED", StatusKeys.CANARIES),
          numbered("DYN_CANARY_WAIT_TIME", StatusKeys.CANARY_WAIT, "s"),
          numbered("DYN_HEALTH_CHECK_REQUEST_TIMEOUT", StatusKeys.CANARY_TIMEOUT, "s"));
  private static final List<Alias> ALIASES =
      Stream.of(
              OWN,
              RouterAliases.all(),
              ApiKeys.aliases(),
              MetricsKeys.aliases(),
              TraceKeys.aliases())
          .flatMap(List::stream)
          .toList();

  private final Map<String, String> values;

  /** Of the process's environment: what the service loader makes. */
  public EnvironmentAliases() {
    this(System::getenv);
  }

  EnvironmentAliases(Function<String, @Nullable String> environment) {
    var found = new LinkedHashMap<String, String>();
    for (var alias : ALIASES) {
      var text = environment.apply(alias.variable());
      if (text != null && !text.isBlank()) {
        found.put(alias.key(), alias.translation().apply(text.strip()));
      }
    }
    this.values = Map.copyOf(found);
  }

  static Alias plain(String variable, SettingKey<?> key) {
    return new Alias(variable, key.name(), "", text -> text);
  }

  static Alias numbered(String variable, SettingKey<?> key, String unit) {
    return new Alias(
        variable,
        key.name(),
        unit,
        text -> text.chars().allMatch(Character::isDigit) ? text + unit : text);
  }

  /** What is set when the original's variable says the opposite; nonsense is passed on. */
  static String not(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "1", "true", "on", "yes" -> "false";
      case "0", "false", "off", "no" -> "true";
      default -> text;
    };
  }

  private static String withoutBrackets(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /** The variable that {@code key} has its value from; null when none of its own is set. */
  static @Nullable String variable(String key, Function<String, @Nullable String> environment) {
    String variable = null;
    for (var alias : ALIASES) {
      var text = alias.key().equals(key) ? environment.apply(alias.variable()) : null;
      if (text != null && !text.isBlank()) {
        variable = alias.variable(); // of several, the later counts
      }
    }
    return variable;
  }

  /** The names that are understood. */
  static Set<String> variables() {
    return ALIASES.stream().map(Alias::variable).collect(Collectors.toUnmodifiableSet());
  }

  /** The aliases by the key that they stand for. */
  static Map<String, Alias> byKey() {
    var aliases = new HashMap<String, Alias>();
    ALIASES.forEach(alias -> aliases.put(alias.key(), alias));
    return aliases;
  }

  @Override
  public Map<String, String> getProperties() {
    return values;
  }

  @Override
  public Set<String> getPropertyNames() {
    return values.keySet();
  }

  @Override
  public @Nullable String getValue(String name) {
    return values.get(name);
  }

  @Override
  public int getOrdinal() {
    return ORDINAL;
  }

  @Override
  public String getName() {
    return NAME;
  }
}
