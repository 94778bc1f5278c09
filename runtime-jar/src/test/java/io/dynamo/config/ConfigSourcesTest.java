package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.frontend.ApiSettings;
import io.dynamo.config.frontend.DispatchEvents;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.key.Lookup.SettingText;
import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.config.plane.DiscoverySettings;
import io.dynamo.config.plane.TlsSettings;
import io.dynamo.config.plane.ZmqBroker;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.watch.ConsoleLog;
import io.dynamo.config.watch.ConsoleLogSettings;
import io.dynamo.config.watch.StatusSettings;
import io.dynamo.testing.TestSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigSourcesTest {
  private static Settings read(ConfigSource source) {
    var server =
        Map.of("java.io.tmpdir", "/tmp", "server.config.dir", "/c", "server.output.dir", "/o");
    return SettingsReader.read(
        name -> {
          var own = source.getValue(name);
          var text = own == null ? server.get(name) : own;
          return text == null ? null : new SettingText(text, source.getName());
        });
  }

  @Test
  void originalEnvironmentNamesAreTranslatedWithTheirUnits() {
    var environment = new HashMap<String, String>();
    environment.put("DYN_DISCOVERY_BACKEND", "file");
    environment.put("DYN_FILE_KV", "/var/store");
    environment.put("DYN_TCP_RPC_HOST", "[::1]");
    environment.put("DYN_TCP_REQUEST_TIMEOUT", "7");
    environment.put("DYN_HTTP_BODY_LIMIT_MB", "3");
    environment.put("DYN_TOKENIZER_CACHE_BYTES", "0");
    environment.put("DYN_RUNTIME_INHIBITED_DURATION_SECS", "0");
    environment.put("DYN_ROUTER_MODE", "round-robin");
    environment.put("DYN_REQUEST_PLANE_CODEC", "json");
    environment.put("DYN_NAMESPACE", "");

    var settings = read(new EnvironmentAliases(environment::get));

    assertThat(settings.discovery().backend()).isEqualTo(DiscoverySettings.Backend.FILE);
    assertThat(settings.discovery().fileRoot()).isEqualTo(Path.of("/var/store"));
    assertThat(settings.tcp().host()).isEqualTo("::1");
    assertThat(settings.tcp().timeouts().acknowledgement()).isEqualTo(Duration.ofSeconds(7));
    assertThat(settings.frontend().bodyLimitBytes()).isEqualTo(3 << 20);
    assertThat(settings.frontend().prefixCacheBytes()).isZero();
    assertThat(settings.server().inhibitedDuration()).isZero();
    assertThat(settings.router().mode()).isEqualTo(RouterSettings.Mode.ROUND_ROBIN);
    assertThat(settings.server().namespace()).isEqualTo("dynamo");
  }

  @Test
  void brokersOfEventsAreReadAsDynamoWritesThem() {
    var environment = Map.of("DYN_ZMQ_BROKER_URL", "xsub=tcp://a:1;tcp://b:1 , xpub=tcp://a:2");

    assertThat(read(new EnvironmentAliases(environment::get)).event().zmqBroker())
        .isEqualTo(new ZmqBroker(List.of("tcp://a:1", "tcp://b:1"), List.of("tcp://a:2")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"tcp://a:1", "xsub=tcp://a:1", "xsub=tcp://a:1,xpub=", "xsub=a:1,xpub=tcp://a:2"})
  void malformedBrokerUrlsAreRefused(String text) {
    var environment = Map.of("DYN_ZMQ_BROKER_URL", text);

    assertThatThrownBy(() -> read(new EnvironmentAliases(environment::get)))
        .hasMessageContaining("dynamo.event.zmq.broker");
  }

  @Test
  void originalNamesOfAdmissionAndTlsAreTranslated() {
    var environment = new HashMap<String, String>();
    environment.put("DYN_TCP_WORKER_POOL_SIZE", "7");
    environment.put("DYN_TCP_WORK_QUEUE_SIZE", "9");
    environment.put("DYN_HTTP_BACKEND_STREAM_TIMEOUT_SECS", "30");
    environment.put("DYN_TCP_TLS_CERT_PATH", "/tls/cert.pem");
    environment.put("DYN_TCP_TLS_KEY_PATH", "/tls/key.pem");
    environment.put("DYN_TCP_TLS_CA_CERT_PATH", "/tls/ca.pem");
    environment.put("DYN_TCP_TLS_INSECURE", "false");
    environment.put("DYN_TCP_TLS_SERVER_NAME", "plane.test");
    environment.put("DYN_TCP_TLS_HANDSHAKE_TIMEOUT_SECS", "4");
    environment.put("DYN_TCP_TLS_CLIENT_CERT_PATH", "/tls/client.pem");
    environment.put("DYN_TCP_TLS_CLIENT_KEY_PATH", "/tls/client.key");
    environment.put("DYN_TCP_TLS_CLIENT_CA_CERT_PATH", "/tls/clients.pem");

    var tcp = read(new EnvironmentAliases(environment::get)).tcp();
    assertThat(tcp.admission()).isEqualTo(new AdmissionSettings(7, 9));
    assertThat(tcp.silence().betweenItems()).isEqualTo(Duration.ofSeconds(30));
    assertThat(tcp.tls())
        .isEqualTo(
            new TlsSettings(
                Path.of("/tls/cert.pem"),
                Path.of("/tls/key.pem"),
                Path.of("/tls/ca.pem"),
                false,
                "plane.test",
                Duration.ofSeconds(4),
                Path.of("/tls/client.pem"),
                Path.of("/tls/client.key"),
                Path.of("/tls/clients.pem")));

    environment.put("DYN_TCP_TLS_INSECURE", "true");
    assertThatThrownBy(() -> read(new EnvironmentAliases(environment::get)))
        .hasMessageContaining("is not used with dynamo.request.tcp.tls.insecure = \"true\"");
    environment.remove("DYN_TCP_TLS_CA_CERT_PATH");
    assertThat(read(new EnvironmentAliases(environment::get)).tcp().tls().insecure()).isTrue();
    environment.put("DYN_TCP_TLS_INSECURE", "false");
    assertThatThrownBy(() -> read(new EnvironmentAliases(environment::get)))
        .hasMessageContaining("server-name = \"plane.test\" has no effect without")
        .hasMessageContaining("client-certificate = \"/tls/client.pem\" has no effect without");
    environment.put("DYN_TCP_TLS_CA_CERT_PATH", "/tls/ca.pem");

    environment.put("DYN_ENGINE_REQUEST_LIMIT", "3");
    var strict = read(new EnvironmentAliases(environment::get)).tcp();
    assertThat(strict.admission()).isEqualTo(new AdmissionSettings(3, 16));
    environment.put("DYN_DYNAMO_REQUEST_QUEUE_LIMIT", "0");
    var stricter = read(new EnvironmentAliases(environment::get)).tcp();
    assertThat(stricter.admission()).isEqualTo(new AdmissionSettings(3, 0));
  }

  @Test
  void aSwitchOfTheOriginalThatSaysNeitherIsRefused() {
    for (var variable : List.of("DYN_DISABLE_FRONTEND_NVEXT", "DYN_DISABLE_FRONTEND_ADMIN_API")) {
      var values = new EnvironmentAliases(Map.of(variable, "maybe")::get).getProperties();
      assertThatThrownBy(() -> TestSettings.with(values))
          .hasMessageContaining("is neither true nor false");
    }
  }

  @Test
  void theOriginalSwitchesOfTheFrontendAreTranslated() {
    var environment =
        Map.ofEntries(
            Map.entry("DYN_IGNORE_OPENAI_FE_UNSUPPORTED_FIELDS", "1"),
            Map.entry("DYN_ENABLE_FORCE_INCLUDE_USAGE", "on"),
            Map.entry("DYN_DISABLE_FRONTEND_NVEXT", "true"),
            Map.entry("DYN_METADATA_HEADER", "X-Mine-"),
            Map.entry("DYN_CONTEXT_WINDOW", "100"),
            Map.entry("DYN_MAX_OUTPUT_TOKENS", "50"),
            Map.entry("DYN_HTTP_SSE_KEEP_ALIVE_INTERVAL_MS", "1500"),
            Map.entry("DYN_REASONING_FIELD_NAME", "reasoning"),
            Map.entry("DYN_EXCLUDE_TOOLS_WHEN_TOOL_CHOICE_NONE", "no"),
            Map.entry("DYN_HTTP_GRACEFUL_SHUTDOWN_TIMEOUT_SECS", "5"),
            Map.entry("DYN_MIGRATION_MAX_SEQ_LEN", "1000"),
            Map.entry("DYN_NAMESPACE", "prod"),
            Map.entry("DYN_NAMESPACE_PREFIX", "pr"),
            Map.entry("DYN_ENABLE_STREAMING_TOOL_DISPATCH", "true"),
            Map.entry("DYN_GRACEFUL_SHUTDOWN_GRACE_PERIOD_SECS", "3"),
            Map.entry("DYN_MODEL_NAME", "m"),
            Map.entry("DYN_MODEL_PATH", "/models/m"));
    var settings = TestSettings.with(new EnvironmentAliases(environment::get).getProperties());

    assertThat(settings.api())
        .isEqualTo(
            new ApiSettings(
                true,
                true,
                false,
                "x-mine-",
                100,
                50,
                Duration.ofMillis(1500),
                ApiSettings.ReasoningField.REASONING,
                new DispatchEvents(true, false),
                false,
                null,
                Duration.ofSeconds(5),
                1000,
                "prod",
                "pr"));
    assertThat(settings.server().namespace()).isEqualTo("prod");
    assertThat(settings.server().handoverAfter()).isEqualTo(Duration.ofSeconds(3));
    assertThat(settings.worker().modelName()).isEqualTo("m");
    assertThat(settings.worker().modelPath()).isEqualTo(Path.of("/models/m"));
    assertThat(settings.api().serves("prod")).isTrue();
    assertThat(settings.api().serves("prod2")).isFalse();
    assertThat(settings.api().serves("other")).isFalse();
  }

  @Test
  void theStatusServersOriginalNamesAreTranslated() {
    var environment = new HashMap<String, String>();
    environment.put("DYN_SYSTEM_PORT", "65535");
    environment.put("DYN_SYSTEM_STARTING_HEALTH_STATUS", "ready");
    environment.put("DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", "[\"generate\", \"clear_kv_blocks\"]");
    environment.put("DYN_HEALTH_CHECK_ENABLED", "true");
    environment.put("DYN_CANARY_WAIT_TIME", "4");
    environment.put("DYN_HEALTH_CHECK_REQUEST_TIMEOUT", "2");

    var status = read(new EnvironmentAliases(environment::get)).status();

    assertThat(status.port()).isEqualTo(65535);
    assertThat(status.starting()).isEqualTo(StatusSettings.Starting.READY);
    assertThat(status.endpoints()).containsExactly("generate", "clear_kv_blocks");
    assertThat(status.canaries()).isTrue();
    assertThat(status.canaryWait()).isEqualTo(Duration.ofSeconds(4));
    assertThat(status.canaryTimeout()).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void originalNamesOfTheHttpPortsTlsAreTranslated() {
    var environment =
        Map.of(
            "DYN_TLS_CERT_PATH", "/tls/cert.pem",
            "DYN_TLS_KEY_PATH", "/tls/key.pem",
            "DYN_TLS_CLIENT_CA_CERT_PATH", "/tls/clients.pem");

    assertThat(read(new EnvironmentAliases(environment::get)).server().httpTls())
        .isEqualTo(
            new HttpTlsSettings(
                Path.of("/tls/cert.pem"), Path.of("/tls/key.pem"), Path.of("/tls/clients.pem")));
  }

  @Test
  void aStatusServerOffLoopbackNeedsAnExplicitWord() {
    var open = new HashMap<>(Map.of("DYN_SYSTEM_HOST", "0.0.0.0"));
    assertThat(read(new EnvironmentAliases(open::get)).status().isOn()).isFalse();
    open.put("DYN_SYSTEM_PORT", "0");
    assertThatThrownBy(() -> read(new EnvironmentAliases(open::get)))
        .hasMessageContaining("dynamo.system.host = \"0.0.0.0\" is reachable from other machines");
  }

  @Test
  void memIsTheOriginalNameOfMemory() {
    var source = new EnvironmentAliases(Map.of("DYN_DISCOVERY_BACKEND", "mem")::get);

    assertThat(source.getProperties()).isEqualTo(Map.of("dynamo.discovery.backend", "memory"));
  }

  @Test
  void theNamesOfDynamosLogChooseTheLinesOnTheConsole() {
    assertThat(read(aliases(Map.of())).watch().console())
        .isEqualTo(new ConsoleLogSettings(ConsoleLog.TEXT, 0));
    assertThat(read(aliases(Map.of("DYN_LOGGING_JSONL", "1"))).watch().console().format())
        .isEqualTo(ConsoleLog.JSON);
    assertThat(read(aliases(Map.of("DYN_LOG", "hyper=debug,WARN"))).watch().console().leastStatus())
        .isEqualTo(400);
    assertThat(read(aliases(Map.of("DYN_LOG", "off"))).watch().console().format())
        .isEqualTo(ConsoleLog.OFF);
    assertThatThrownBy(() -> read(aliases(Map.of("DYN_LOG", "loud"))))
        .hasMessageContaining("dynamo.log.level = \"loud\"");
  }

  private static EnvironmentAliases aliases(Map<String, String> environment) {
    return new EnvironmentAliases(environment::get);
  }

  @Test
  void anAliasThatCannotBeTranslatedIsRefusedByItsKey() {
    var source =
        new EnvironmentAliases(
            Map.of("DYN_DISCOVERY_BACKEND", "consul", "DYN_TCP_REQUEST_TIMEOUT", "soon")::get);

    assertThatThrownBy(() -> read(source))
        .hasMessageContaining(
            "dynamo.discovery.backend = \"consul\" (from DYN_* environment) is not memory or"
                + " file or etcd or kubernetes")
        .hasMessageContaining("dynamo.request.tcp.request-timeout = \"soon\"");
  }

  @Test
  void theOperatorsFileIsRead(@TempDir Path dir) throws IOException {
    Files.writeString(
        dir.resolve("microprofile-config.properties"), "dynamo.worker.model-name = gr\u00fcn\n");

    var source = new OperatorFile(Map.of(), dir.toString());

    assertThat(read(source).worker().modelName()).isEqualTo("gr\u00fcn");
    assertThat(source.getName()).startsWith(dir.toString());
  }

  @Test
  void theVariableNamesTheOperatorsFile(@TempDir Path dir) throws IOException {
    Files.writeString(
        dir.resolve("microprofile-config.properties"), "dynamo.worker.model-name = other\n");
    var file = Files.writeString(dir.resolve("here"), "dynamo.worker.model-name = named\n");
    var environment = Map.of("DYNAMO_CONFIG_FILE", file.toString());

    var source = new OperatorFile(environment, dir.toString());

    assertThat(read(source).worker().modelName()).isEqualTo("named");
    assertThat(source.getName()).isEqualTo(file.toString());
    assertThat(
            new UnknownNames(List.of()).problems(List.of(GivenName.variable("DYNAMO_CONFIG_FILE"))))
        .isEmpty();
  }

  @Test
  void aNamedOperatorsFileThatIsMissingIsAProblem(@TempDir Path dir) {
    var missing = dir.resolve("missing").toString();

    assertThat(new OperatorFile(Map.of("DYNAMO_CONFIG_FILE", missing), null).problems())
        .singleElement()
        .asString()
        .contains(missing + " cannot be read");
  }

  @Test
  void aServerWithoutOperatorsFileHasNoneOfItsValues(@TempDir Path dir) {
    assertThat(new OperatorFile(Map.of(), dir.toString()).getProperties()).isEmpty();
    assertThat(new OperatorFile(Map.of(), null).getProperties()).isEmpty();
  }

  /** The container makes the source while it starts the application: it must not fail there. */
  @Test
  void anOperatorsFileThatCannotBeReadIsAProblemOfTheSettings(@TempDir Path dir)
      throws IOException {
    var file = dir.resolve("microprofile-config.properties");
    Files.writeString(file, "dynamo.worker.model-name = \\u12\n");

    var source = new OperatorFile(Map.of(), dir.toString());

    assertThat(source.getProperties()).isEmpty();
    assertThat(source.problems()).hasSize(1);
    assertThatThrownBy(() -> SettingsReader.read(_ -> null, List.of(), source.problems()))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(file + " cannot be read");
  }

  @Test
  void theEnvironmentIsAboveTheOperatorsFileAndBothAboveThePackagedOne() {
    assertThat(EnvironmentAliases.ORDINAL).isLessThan(300).isGreaterThan(OperatorFile.ORDINAL);
    assertThat(OperatorFile.ORDINAL).isGreaterThan(ConfigSource.DEFAULT_ORDINAL);
  }

  @Test
  void bothSourcesAreRegistered() {
    assertThat(ServiceLoader.load(ConfigSource.class))
        .hasAtLeastOneElementOfType(EnvironmentAliases.class)
        .hasAtLeastOneElementOfType(OperatorFile.class);
  }
}
