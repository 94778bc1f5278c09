package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.key.InvalidSettingsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A refusal names the setting as the operator typed it, in each source. */
class SettingSourcesTest {
  private static final String FILE = "/srv/microprofile-config.properties";

  private final Map<String, String> environment = new HashMap<>(Map.of("PATH", "/bin"));
  private final Map<String, String> file = new HashMap<>();
  private final Map<String, String> system =
      new HashMap<>(
          Map.of(
              "java.io.tmpdir", "/tmp",
              "server.config.dir", "/srv/config",
              "server.output.dir", "/srv/output",
              "dynamo.role", "all"));
  private final Map<String, String> server = new HashMap<>();

  private SettingSources sources() {
    var all = new ArrayList<ConfigSource>();
    all.add(FakeConfig.source("server.xml.variables.config.source", server));
    all.add(FakeConfig.source("SysPropConfigSource", system));
    all.add(FakeConfig.environment(environment));
    all.add(new EnvironmentAliases(environment::get));
    all.add(FakeConfig.source(FILE, file));
    return new SettingSources(new FakeConfig(all), environment);
  }

  private Settings read() {
    var sources = sources();
    return SettingsReader.read(sources::find, sources.names(), List.of());
  }

  @Test
  void knownNamesAreTakenFromEveryPlace() {
    environment.put("DYNAMO_HTTP_MAX_CONNECTIONS", "7");
    environment.put("DYN_HTTP_HOST", "127.0.0.2");
    file.put("dynamo.http.port", "9000");
    file.put("dynamo.http.host", "127.0.0.3"); // weaker than the variable
    server.put("dynamo.worker.ranks", "2");

    var settings = read();

    assertThat(settings.server().httpMaxConnections()).isEqualTo(7);
    assertThat(settings.server().httpHost()).isEqualTo("127.0.0.2");
    assertThat(settings.server().httpPort()).isEqualTo(9000);
    assertThat(settings.worker().ranks()).isEqualTo(2);
  }

  @Test
  void aBadValueIsRefusedByTheVariableOrTheFileThatHasIt() {
    environment.put("DYN_REQUEST_PLANE_CODEC", "xml");
    environment.put("DYNAMO_WORKER_BLOCK_TOKENS", "many");
    file.put("dynamo.frontend.heartbeat", "never");
    system.put("dynamo.worker.ranks", "0");
    server.put("dynamo.http.port", "70000");

    assertThatThrownBy(this::read)
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(
            "dynamo.request.codec = \"xml\" (from the variable DYN_REQUEST_PLANE_CODEC)")
        .hasMessageContaining(
            "dynamo.worker.block-tokens = \"many\" (from the variable DYNAMO_WORKER_BLOCK_TOKENS)")
        .hasMessageContaining("dynamo.frontend.heartbeat = \"never\" (from " + FILE + ")")
        .hasMessageContaining("dynamo.worker.ranks = \"0\" (from the system properties)")
        .hasMessageContaining("dynamo.http.port = \"70000\" (from the variables of server.xml)");
  }

  @Test
  void ofTwoVariablesOfTheOriginalTheOneThatCountsIsNamed() {
    environment.put("DYN_USE_KV_EVENTS", "true");
    environment.put("DYN_ROUTER_USE_KV_EVENTS", "perhaps");

    assertThatThrownBy(this::read)
        .hasMessageContaining("(from the variable DYN_ROUTER_USE_KV_EVENTS)");
  }

  @ParameterizedTest
  @CsvSource({
    "DYNAMO_WORKER_RANK, DYNAMO_WORKER_RANKS",
    "DYNAMO_HTTP_PROT, DYNAMO_HTTP_PORT",
    "Dynamo_Worker_Ranks, DYNAMO_WORKER_RANKS",
    "DYNAMO_ROUTER_QUEUE_TRESHOLD, DYNAMO_ROUTER_QUEUE_THRESHOLD"
  })
  void aMisspeltVariableIsRefusedWithTheNameThatIsNear(String typed, String near) {
    environment.put(typed, "1");

    assertThatThrownBy(this::read)
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(
            "the variable " + typed + " is no setting; perhaps " + near + " is meant");
  }

  @Test
  void aMisspeltKeyIsRefusedWhereverItStands() {
    file.put("dynamo.worker.rank", "1");
    file.put("dynamo.http.max.connections", "1"); // a variable may be listed so, a key not
    system.put("dynamo.http.prot", "1");
    server.put("dynamo.nonsense-of-another-length", "1");
    file.put("DYNAMO_WORKER_RANKS", "1"); // means something in the environment only
    environment.put("DYNAMO_HTTP_MAX_CONNECTIONS", "7");

    assertThatThrownBy(this::read)
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(
            "dynamo.worker.rank (in "
                + FILE
                + ") is no setting; perhaps dynamo.worker.ranks is meant")
        .hasMessageContaining("dynamo.http.max.connections (in " + FILE + ") is no setting")
        .hasMessageContaining("dynamo.http.prot (in the system properties) is no setting")
        .hasMessageContaining(
            "dynamo.nonsense-of-another-length (in the variables of server.xml) is no setting;"
                + " correct")
        .hasMessageContaining("DYNAMO_WORKER_RANKS (in " + FILE + ") is no setting")
        .hasMessageContaining("5 bad settings");
  }

  @Test
  void settingsOfNoModelAreRefused() {
    environment.put("DYNAMO_WORKER_MODELS", "a");
    environment.put("DYNAMO_WORKER_MODELS_A_MODEL_PATH", "/models/a");
    environment.put("DYNAMO_WORKER_MODELS_B_ENGINE", "mock");
    file.put("dynamo.worker.models.a.engin", "mock");
    file.put("dynamo.worker.models.a.ranks", "3");

    assertThatThrownBy(this::read)
        .hasMessageContaining("the variable DYNAMO_WORKER_MODELS_B_ENGINE is a setting of no model")
        .hasMessageContaining(
            "dynamo.worker.models.a.engin (in " + FILE + ") is a setting of no model")
        .hasMessageContaining("2 bad settings");
    environment.remove("DYNAMO_WORKER_MODELS_B_ENGINE");
    file.remove("dynamo.worker.models.a.engin");
    assertThat(read().worker().modelPath()).isEqualTo(Path.of("/models/a"));
    assertThat(read().worker().ranks()).isEqualTo(3);
  }

  /**
   * The variables that Kubernetes sets for a service called dynamo-frontend, and for one called
   * dynamo.
   */
  @Test
  void variablesOfKubernetesServicesAreNotTakenForSettings() {
    for (var service : List.of("DYNAMO_FRONTEND", "DYNAMO")) {
      for (var end :
          List.of(
              "SERVICE_HOST",
              "SERVICE_PORT",
              "SERVICE_PORT_HTTP",
              "PORT",
              "PORT_8000_TCP",
              "PORT_8000_TCP_ADDR",
              "PORT_8000_TCP_PORT",
              "PORT_8000_TCP_PROTO")) {
        environment.put(service + "_" + end, "tcp://10.0.0.1:8000");
      }
    }
    read();

    environment.put("DYNAMO_FRONTEND_PORTS", "1");
    assertThatThrownBy(this::read).hasMessageContaining("1 bad setting;");
    environment.remove("DYNAMO_FRONTEND_PORTS");
    environment.remove("DYNAMO_SERVICE_HOST"); // then the others are no service's
    assertThatThrownBy(this::read).hasMessageContaining("DYNAMO_PORT_8000_TCP is no setting");
  }

  @ParameterizedTest
  @ValueSource(strings = {"DYN_UNKNOWN", "DYNAMODB_TABLE", "DYNAMO", "dynamometer.unit"})
  void namesOfOthersAreNoneOfOurs(String name) {
    environment.put(name, "1");
    system.put(name, "1");

    assertThat(read().worker().ranks()).isEqualTo(4);
  }

  @Test
  void aReferenceThatLeadsNowhereIsRefused() {
    file.put("dynamo.worker.model-path", "${MODELS}/big");

    assertThatThrownBy(this::read)
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(
            "dynamo.worker.model-path refers with ${…} to something that is not set")
        .hasMessageContaining("1 bad setting;");
  }

  @Test
  void aTextIsGivenTheOriginsOfTheSettingsThatItNames() {
    environment.put("DYN_HTTP_HOST", "0.0.0.0");
    environment.put("DYN_TLS_KEY_PATH", "/key.pem");
    file.put("dynamo.http.port", "1");

    assertThat(
            sources()
                .namedIn(
                    "dynamo.http.host = \"0.0.0.0\" is open; dynamo.http.tls.key (from the variable"
                        + " DYN_TLS_KEY_PATH) has no effect without dynamo.http.tls.certificate,"
                        + " see dynamo.http.portal or dynamo.http.port."))
        .containsExactly(
            "dynamo.http.host is set by the variable DYN_HTTP_HOST",
            "dynamo.http.port is set by " + FILE);
  }

  @Test
  void theContainersOwnVariablesAreKnown() throws Exception {
    var used = Pattern.compile("\\$\\{(dynamo\\.[^}]+)}|name=\"(dynamo\\.[^\"]+)\"");
    try (var files = Files.walk(Path.of("../server-config/src/main/liberty/config"))) {
      for (var xml : files.filter(file -> file.toString().endsWith(".xml")).toList()) {
        var matcher = used.matcher(Files.readString(xml));
        while (matcher.find()) {
          server.put(matcher.group(1) == null ? matcher.group(2) : matcher.group(1), "worker");
        }
      }
    }
    assertThat(server).containsKeys("dynamo.role", "dynamo.log.console-level", "dynamo.roles");

    assertThat(read().server().roles()).containsExactly(Role.WORKER);
  }
}
