package io.dynamo.frontend.apidoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.FakeExchange;
import java.io.IOException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ApiDocumentServletTest {
  private static final Pattern LINK = Pattern.compile("(?:src|href)=\"(/docs/[^\"]+)\"");

  private static FakeExchange ask(String method, String path) throws IOException {
    var exchange = new FakeExchange(method, path);
    new ApiDocumentServlet().answer(exchange.request(), exchange.response());
    return exchange;
  }

  @ParameterizedTest
  @CsvSource({
    "/openapi.json, '\"openapi\":'",
    "/openapi, '\"openapi\":'",
    "/docs, swagger-ui-bundle.js",
    "/docs/, swagger-ui-bundle.js",
    "/docs/docs.js, SwaggerUIBundle",
    "/docs/swagger-ui-bundle.js, SwaggerUIBundle",
    "/docs/swagger-ui.css, .swagger-ui",
  })
  void eachFileIsAnsweredForThisServersPageAlone(String path, String part) throws IOException {
    var exchange = ask("GET", path);
    assertThat(exchange.status()).isEqualTo(200);
    assertThat(exchange.text()).contains(part);
    assertThat(exchange.headers())
        .containsEntry("X-Content-Type-Options", "nosniff")
        .hasEntrySatisfying(
            "Content-Security-Policy",
            policy ->
                assertThat(policy)
                    .contains("script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'")
                    .doesNotContain("unsafe-eval"));
    assertThat(ask("HEAD", path).text()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/openapi/ui", "/openapi/ui/", "/openapi/ui/index.html"})
  void thePathsOfMicroProfilesPageLeadToOurs(String path) throws IOException {
    var exchange = ask("GET", path);
    assertThat(exchange.status()).isEqualTo(303);
    assertThat(exchange.headers()).containsEntry("Location", "/docs");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/docs/openapi.json",
        "/docs/../META-INF/MANIFEST.MF",
        "/docs/%2e%2e/openapi.json",
        "/docs/swagger-ui.js",
        "/openapi/nowhere",
        "/openapi/uinowhere"
      })
  void nothingElseIsAFile(String path) throws IOException {
    assertThat(ask("GET", path).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/openapi.json", "/docs", "/openapi/ui"})
  void theFilesAreOnlyRead(String path) throws IOException {
    assertThat(ask("POST", path).status()).isEqualTo(405);
  }

  @Test
  void everyFileThatThePageNamesExists() throws IOException {
    var links = LINK.matcher(ask("GET", "/docs").text());
    assertThat(links.results().map(link -> link.group(1)))
        .hasSize(4)
        .allSatisfy(path -> assertThat(ask("GET", path).status()).isEqualTo(200));
  }
}
