package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.key.Lookup.SettingText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnsupportedVariablesTest {
  @Test
  void everyVariableOfTheReferenceIsASettingOrHasAReason() throws IOException {
    var without = new ArrayList<String>();
    for (var name : reference()) {
      if (!SettingKeys.variables().contains(name)
          && UnsupportedVariables.refusals(Map.of(name, "x"), _ -> null).isEmpty()
          && UnsupportedVariables.reason(name).equals(UnsupportedVariables.UNKNOWN)) {
        without.add(name);
      }
    }
    assertThat(without).isEmpty();
  }

  private static List<String> reference() throws IOException {
    try (var in =
        Objects.requireNonNull(
            UnsupportedVariablesTest.class.getResourceAsStream("/reference-variables.txt"))) {
      var names = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
      assertThat(names).hasSizeGreaterThan(200);
      return names;
    }
  }

  @Test
  void variablesWithoutEffectAreReportedWithTheirReasons() {
    var report =
        UnsupportedVariables.report(
            Map.of(
                "DYN_HTTP_PORT", "1",
                "DYN_TYPO", "1",
                "KVBM_CONFIG_PATH", "/k",
                "MODEL_EXPRESS_URL", "http://models:8001",
                "DYN_KVBM_ENABLE_NUMA", "1",
                "DYN_KVBM_KV_EVENTS_ENABLE_CONSOLIDATOR", "true",
                "DYN_REQUEST_PLANE", "tcp",
                "PATH", "/bin",
                "DYNAMO_ROLES", "router"));

    assertThat(report)
        .isEqualTo(
            "DYN_KVBM_KV_EVENTS_ENABLE_CONSOLIDATOR (dynamo.worker.remote.second-kv-events names the"
                + " publisher whose KV events are merged with the engine's own); MODEL_EXPRESS_URL"
                + " (models are folders of this machine, and nothing is fetched); DYN_TYPO"
                + " (not a variable that this version knows; check its spelling);"
                + " DYN_KVBM_ENABLE_NUMA, KVBM_CONFIG_PATH (there are no KV tiers below the"
                + " device)");
  }

  @Test
  void environmentOfKnownNamesIsNotReported() {
    assertThat(UnsupportedVariables.report(Map.of("DYN_HTTP_PORT", "1", "HOME", "/root"))).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "DYN_RESPONSE_PLANE, quic, set tcp",
    "DYN_KV_STORE, etcd, set that to mem",
    "ETCD_ENDPOINTS, http://a:2379, set DYN_DISCOVERY_BACKEND to etcd",
    "DYN_ZMQ_BROKER_ENABLED, true, DYN_ZMQ_BROKER_URL",
    "DYN_NAMESPACE_WORKER_SUFFIX, blue, DYN_NAMESPACE",
    "DYN_ENDPOINT, dyn://a.b.c, dynamo.worker.component",
    "DYN_DISAGGREGATION_MODE, prefill, set agg"
  })
  void variableThatWouldSendDataElsewhereIsRefused(String variable, String value, String advice) {
    assertThat(UnsupportedVariables.refusals(Map.of(variable, value), _ -> null))
        .singleElement()
        .asString()
        .startsWith("the variable %s = \"%s\" is not supported: ".formatted(variable, value))
        .contains(advice);
  }

  @Test
  void valueThatSaysWhatHappensAnywayIsNotRefused() {
    assertThat(
            UnsupportedVariables.refusals(
                Map.of("DYN_RESPONSE_PLANE", "TCP", "DYN_ZMQ_BROKER_ENABLED", "false"), _ -> null))
        .isEmpty();
  }

  @Test
  void addressOfEtcdIsNotRefusedWhereTheBackendIsSet() {
    assertThat(
            UnsupportedVariables.refusals(
                Map.of("ETCD_ENDPOINTS", "http://a:2379"),
                name ->
                    name.equals("dynamo.discovery.backend")
                        ? new SettingText("file", "test")
                        : null))
        .isEmpty();
  }
}
