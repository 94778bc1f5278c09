package io.dynamo.frontend;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.Route;
import io.dynamo.config.frontend.RouteSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RoutePathsTest {
  private final RoutePaths paths =
      new RoutePaths(
          new RouteSettings(
              Map.of(
                  Route.CHAT, "/v1/completions",
                  Route.COMPLETIONS, "/api/complete",
                  Route.RESPONSES, "/api/responses",
                  Route.MODELS, "/models",
                  Route.HEALTH, "/well",
                  Route.METRICS, "/figures")));

  @ParameterizedTest
  @CsvSource({
    "/v1/completions, /v1/chat/completions",
    "/api/complete, /v1/completions",
    "/api/responses, /v1/responses",
    "/api/responses/input_tokens, /v1/responses/input_tokens",
    "/models/a/b%20c/ready, /v1/models/a/b%20c/ready",
    "/well/ready, /health/ready",
    "/figures, /metrics",
  })
  void movedRouteIsServedAtItsPath(String uri, String standard) {
    assertThat(paths.of(uri, uri))
        .isInstanceOfSatisfying(
            RoutePaths.Place.MovedFrom.class, it -> assertThat(it.path()).isEqualTo(standard));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/v1/chat/completions", "/v1/responses", "/v1/responses/resp_1", "/v1/models/a"})
  void standardPathOfAMovedRouteIsNowhere(String uri) {
    assertThat(paths.of(uri, uri)).isEqualTo(new RoutePaths.Place.Nowhere());
  }

  @Test
  void vacatedPathIsKnownInEverySpelling() {
    assertThat(paths.of("/v1/%6Dodels;x=1", "/v1/models"))
        .isEqualTo(new RoutePaths.Place.Nowhere());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/models/../../busy_threshold",
        "/models/%2e%2e/%2E%2e/busy_threshold",
        "/models/.%2e/x",
        "/models/..;/x",
        "/models/a;b",
        "/models/%252e%252e/x",
        "/models/..%2fx",
        "/models/..%5cx",
      })
  void pathThatCouldLeadOutOfItsRouteIsNowhere(String uri) {
    assertThat(paths.of(uri, uri)).isEqualTo(new RoutePaths.Place.Nowhere());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/embeddings",
        "/api",
        "/api/complete/x",
        "/api/completer",
        "/modelsx",
        "/",
        "/health",
        "/health/ready",
        "/metrics"
      })
  void otherPathsStayWhereTheyAre(String uri) {
    assertThat(paths.of(uri, uri)).isEqualTo(new RoutePaths.Place.Here());
  }

  @Test
  void publishedPathsAreThoseOfClients() {
    assertThat(paths.published("/v1/chat/completions")).isEqualTo("/v1/completions");
    assertThat(paths.published("/v1/models/{id}")).isEqualTo("/models/{id}");
    assertThat(paths.published("/v1/embeddings")).isEqualTo("/v1/embeddings");
  }

  @Test
  void pagesAndDescriptionsAreRewrittenOnce() {
    var text =
        "{\"/v1/chat/completions\":1,\"/v1/completions\" : \"/v1/models/{id}\"}"
            + " <i>x</i>/v1/models</code> https://x/v1/models \"see /v1/models\"";

    assertThat(new String(paths.rewrite(text.getBytes(UTF_8)), UTF_8))
        .isEqualTo(
            "{\"/v1/completions\":1,\"/api/complete\" : \"/models/{id}\"}"
                + " <i>x</i>/models</code> https://x/v1/models \"see /v1/models\"");
  }
}
