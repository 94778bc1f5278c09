package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.frontend.Route;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.TestSettings;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RouteKeysTest {
  private static final String PREFIX = "dynamo.frontend.path.";

  private static Map<Route, String> moved(String... settings) {
    var given = new HashMap<String, String>();
    for (int i = 0; i < settings.length; i += 2) {
      given.put(PREFIX + settings[i], settings[i + 1]);
    }
    return TestSettings.with(given).routes().moved();
  }

  @Test
  void onlyOtherPathsThanTheStandardOnesCount() {
    assertThat(moved()).isEmpty();
    assertThat(moved("chat", "/v1/chat/completions", "models", "/models"))
        .containsExactly(Map.entry(Route.MODELS, "/models"));
  }

  @Test
  void routesMayChangePlaces() {
    assertThat(moved("chat", "/v1/completions", "completions", "/v1/chat/completions")).hasSize(2);
    assertThat(moved("responses", "/r", "chat", "/v1/responses/chat")).hasSize(2);
    assertThat(moved("health", "/h", "live", "/h2")).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "v1/chat",
        "/",
        "",
        "/a/",
        "//a",
        "/a//b",
        "/:model/chat",
        "/*all",
        "/a/:b",
        "/a/*",
        "/a b",
        "/a?b",
        "/a%2Fb",
        "/a;b",
        "/{a}",
        "/../a",
        "/a/..",
        "/a/.",
        "/ü",
        "/a\\b",
        "/a#b"
      })
  void badPathIsRefused(String path) {
    if (path.isEmpty()) {
      assertThat(moved("chat", path)).as("as if absent").isEmpty();
      return;
    }
    assertThatThrownBy(() -> moved("chat", path))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(PREFIX + "chat");
  }

  @ParameterizedTest
  @CsvSource({
    "chat, /v1/completions, completions",
    "chat, /v1/models/chat, models",
    "chat, /v1/responses/input_tokens, responses",
    "chat, /tokenize, /tokenize",
    "chat, /busy_threshold, /busy_threshold",
    "messages, /console, /console",
    "models, /router/explain, /router",
    "chat, /worker/x, /worker",
    "chat, /metrics, metrics",
    "live, /health/live, health",
    "health, /metrics/health, metrics",
  })
  void collidingPathsAreRefusedByName(String route, String path, String other) {
    assertThatThrownBy(() -> moved(route, path))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(PREFIX + route + " = \"" + path + "\"")
        .hasMessageContaining(other.startsWith("/") ? other : PREFIX + other);
  }

  @Test
  void twoRoutesThatMoveToOnePathAreRefused() {
    assertThatThrownBy(() -> moved("chat", "/one", "completions", "/one"))
        .hasMessageContaining(PREFIX + "chat")
        .hasMessageContaining(PREFIX + "completions");
    assertThatThrownBy(() -> moved("models", "/one", "completions", "/one/two"))
        .hasMessageContaining("two routes");
  }

  @Test
  void placeThatIsServedInAnyCaseIsRefused() {
    assertThatThrownBy(() -> moved("metrics", "/m", "chat", "/metrics"))
        .hasMessageContaining("is served in any case");
  }
}
