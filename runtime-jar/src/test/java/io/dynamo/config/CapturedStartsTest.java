package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.TestSettings;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Starts of Dynamo 1.6.1 that failed: a server of ours refuses the same values, by name. */
class CapturedStartsTest {
  /** Starts that are a matter of the command line, whose own tests have them. */
  private static final Set<String> COMMAND_LINE = Set.of("--zzz", "--version");

  private static Stream<JsonNode> starts() throws IOException {
    try (var in = CapturedStartsTest.class.getResourceAsStream("/golden/startup.json")) {
      return new ObjectMapper()
          .readTree(Objects.requireNonNull(in))
          .valueStream()
          .filter(start -> !COMMAND_LINE.contains(start.get("given").asText()));
    }
  }

  @ParameterizedTest
  @MethodSource("starts")
  void settingsThatDynamoRefusesAreRefused(JsonNode start) throws IOException {
    var given = start.get("given").asText();
    var environment = environment(given);
    if (start.has("statuses")) {
      var settings = TestSettings.with(new EnvironmentAliases(environment::get).getProperties());
      assertThat(settings.routes().moved().values())
          .containsExactlyInAnyOrderElementsOf(environment.values());
      return;
    }
    var settings = OfflineSettings.of(environment, null);
    assertThat(start.get("exit").asInt()).isPositive();
    var refused = environment.values().stream().toList().getLast();
    assertThatThrownBy(settings::read)
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(" = \"" + refused + '"');
  }

  /** The variables of a start; flags are given by theirs. */
  private static Map<String, String> environment(String given) {
    var environment = new LinkedHashMap<String, String>();
    var words = given.split(" ", -1);
    for (int i = 0; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      if (equals > 0) {
        environment.put(words[i].substring(0, equals), words[i].substring(equals + 1));
      } else {
        environment.put(variable(words[i]), words[++i]);
      }
    }
    return environment;
  }

  private static String variable(String flag) {
    return switch (flag) {
      case "--router-mode" -> "DYN_ROUTER_MODE";
      case "--active-decode-blocks-threshold" -> "DYN_ACTIVE_DECODE_BLOCKS_THRESHOLD";
      case "--tls-cert-path" -> "DYN_TLS_CERT_PATH";
      default -> throw new AssertionError("no variable is known for " + flag);
    };
  }
}
