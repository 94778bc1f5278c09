package io.dynamo.config.watch;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.HTTP_PATH;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.IP_LITERAL;
import static io.dynamo.config.key.SettingType.NAMES;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.time.Duration;
import java.util.List;

/** The settings of the status server and of health, in the order of the documentation. */
public final class StatusKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<String> HOST =
      KEYS.key(
          "dynamo.system.host",
          IP_LITERAL,
          "127.0.0.1",
          none(),
          "where the status server is bound; off loopback only with `dynamo.security.insecure`",
          plain("DYN_SYSTEM_HOST"));
  static final SettingKey<Integer> PORT =
      KEYS.key(
          "dynamo.system.port",
          INTEGER,
          "-1",
          between(-1, 65535),
          "the status server's port; -1 starts none, 0 lets the system choose",
          plain("DYN_SYSTEM_PORT"));
  static final SettingKey<String> HEALTH_PATH =
      KEYS.key(
          "dynamo.system.health-path",
          HTTP_PATH,
          "/health",
          none(),
          "where the status server is asked for health",
          plain("DYN_SYSTEM_HEALTH_PATH"));
  static final SettingKey<String> LIVE_PATH =
      KEYS.key(
          "dynamo.system.live-path",
          HTTP_PATH,
          "/live",
          none(),
          "a second path with the same answer",
          plain("DYN_SYSTEM_LIVE_PATH"));
  static final SettingKey<StatusSettings.Starting> STARTING =
      KEYS.key(
          "dynamo.system.starting-health-status",
          oneOf(StatusSettings.Starting.class),
          "notready",
          none(),
          "the health that a process without health targets reports",
          plain("DYN_SYSTEM_STARTING_HEALTH_STATUS"));
  static final SettingKey<List<String>> ENDPOINTS =
      KEYS.key(
          "dynamo.system.endpoint-health",
          NAMES,
          "",
          none(),
          "endpoints that alone decide whether the process is ready",
          new Alias(
              "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS",
              "",
              text -> text.replaceAll("[\\[\\]\"\\s]", "")));
  static final SettingKey<Boolean> SELF_HOST =
      KEYS.key(
          "dynamo.system.self-host-metadata",
          BOOLEAN,
          "true",
          none(),
          "whether the status server serves the files that our model cards name",
          plain("DYN_SELF_HOST_METADATA"));
  static final SettingKey<Boolean> LORA_ROUTES =
      KEYS.key(
          "dynamo.system.lora-routes",
          BOOLEAN,
          "false",
          none(),
          "whether the status server has `/v1/loras`",
          plain("DYN_LORA_ENABLED"));
  static final SettingKey<Boolean> CANARIES =
      KEYS.key(
          "dynamo.health.canaries",
          BOOLEAN,
          "false",
          none(),
          "whether endpoints without traffic are probed",
          plain("DYN_HEALTH_CHECK_ENABLED"));
  static final SettingKey<Duration> CANARY_WAIT =
      KEYS.key(
          "dynamo.health.canary-wait",
          DURATION,
          "10s",
          WAIT,
          "silence before a probe",
          numbered("DYN_CANARY_WAIT_TIME", "s"));
  static final SettingKey<Duration> CANARY_TIMEOUT =
      KEYS.key(
          "dynamo.health.canary-timeout",
          DURATION,
          "3s",
          WAIT,
          "from a probe to the first item of its answer",
          numbered("DYN_HEALTH_CHECK_REQUEST_TIMEOUT", "s"));
  static final SettingKey<Boolean> WITHDRAW =
      KEYS.key(
          "dynamo.health.withdraw",
          BOOLEAN,
          "true",
          none(),
          "whether an instance whose probe failed leaves discovery until a probe succeeds");

  private StatusKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /** Refuses a status server that other machines can reach unless {@code insecure} is set. */
  public static void check(KeyReader reader, SettingKey<Boolean> insecure) {
    var port = reader.optional(PORT);
    if (port != null && port >= 0) {
      reader.requireLoopback(HOST, insecure);
    }
  }

  public static StatusSettings read(KeyReader reader) {
    var endpoints = reader.optional(ENDPOINTS);
    return new StatusSettings(
        reader.get(HOST),
        reader.get(PORT),
        reader.get(HEALTH_PATH),
        reader.get(LIVE_PATH),
        reader.get(STARTING),
        endpoints == null ? List.of() : endpoints,
        reader.get(SELF_HOST),
        reader.get(LORA_ROUTES),
        reader.get(CANARIES),
        reader.get(CANARY_WAIT),
        reader.get(CANARY_TIMEOUT),
        reader.get(WITHDRAW));
  }
}
