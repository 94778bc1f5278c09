package io.dynamo.frontend.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.FakeExchange;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PageServletTest {
  private static final Pattern LINK = Pattern.compile("(?:src|href)=\"(/[^\"#]*\\.\\w+)\"");
  private static final Pattern IMPORT = Pattern.compile("(?:from|import) \"\\./([^\"]+)\"");

  private static FakeExchange ask(String method, String path) throws IOException {
    var exchange = new FakeExchange(method, path);
    new PageServlet(true).answer(exchange.request(), exchange.response());
    return exchange;
  }

  private static List<Path> sources() throws IOException, URISyntaxException {
    var folder =
        Objects.requireNonNull(PageServlet.class.getResource("/META-INF/console/console.html"));
    try (var files = Files.list(Path.of(folder.toURI()).getParent())) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/, Dynamo on Jakarta EE",
    "/console, Dynamo console",
    "/console/, Dynamo console",
    "/console/console.js, feed.start",
    "/favicon.svg, <svg"
  })
  void thePagesAreAnsweredUnderAStrictPolicy(String path, String part) throws IOException {
    var exchange = ask("GET", path);
    assertThat(exchange.status()).isEqualTo(200);
    assertThat(exchange.text()).contains(part);
    assertThat(exchange.headers())
        .containsEntry("X-Content-Type-Options", "nosniff")
        .containsEntry("X-Frame-Options", "DENY")
        .hasEntrySatisfying(
            "Content-Security-Policy",
            policy ->
                assertThat(policy)
                    .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
                    .doesNotContain("unsafe"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/console/nothing.js",
        "/console/../console.html",
        "/console/../../beans.xml",
        "/console/%2e%2e/openapi.json",
        "/console/console.html",
        "/index.html"
      })
  void nothingElseIsAFile(String path) throws IOException {
    assertThat(ask("GET", path).status()).isEqualTo(404);
  }

  @Test
  void pagesAreOnlyRead() throws IOException {
    assertThat(ask("POST", "/console").status()).isEqualTo(405);
    var head = ask("HEAD", "/console");
    assertThat(head.status()).isEqualTo(200);
    assertThat(head.text()).isEmpty();
  }

  @Test
  void aServerWithoutFrontendHasNoPages() throws IOException {
    var exchange = new FakeExchange("GET", "/console");
    new PageServlet(false).answer(exchange.request(), exchange.response());
    assertThat(exchange.status()).isEqualTo(404);
  }

  /** A file that no page names, or a name without a file, is a mistake in the list. */
  @Test
  void theFilesAreThoseThatThePagesName() throws Exception {
    for (var source : sources()) {
      var text = Files.readString(source, StandardCharsets.ISO_8859_1);
      var links = LINK.matcher(text);
      while (links.find()) {
        assertThat(linked(links.group(1))).as("%s in %s", links.group(1), source).isTrue();
      }
      var imports = IMPORT.matcher(text);
      while (imports.find()) {
        var path = "/console/" + imports.group(1);
        assertThat(PageServlet.FILES.at(path)).as("%s in %s", path, source).isNotNull();
      }
      var name = String.valueOf(source.getFileName());
      if (name.endsWith(".js")) {
        assertThat(PageServlet.FILES.at("/console/" + name)).as(name).isNotNull();
      }
    }
  }

  private static boolean linked(String path) {
    return path.equals("/openapi.json") || PageServlet.FILES.at(path) != null;
  }

  /** No script uses a function that turns text of a model or a client into markup or code. */
  @Test
  void noFileMakesMarkupOfTexts() throws Exception {
    for (var source : sources()) {
      var name = String.valueOf(source.getFileName());
      var text = Files.readString(source, StandardCharsets.ISO_8859_1);
      if (name.endsWith(".js")) {
        assertThat(text.replace("http://www.w3.org/2000/svg", ""))
            .as(name)
            .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write")
            .doesNotContain("eval(", "new Function", "http://", "https://");
      }
      if (name.endsWith(".html")) {
        assertThat(text).as(name).doesNotContain("<style", " style=", " onclick=");
        assertThat(text).as(name).doesNotContainPattern("<script(?![^>]*src=)");
      }
    }
  }
}
