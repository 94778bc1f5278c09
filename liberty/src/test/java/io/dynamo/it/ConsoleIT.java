package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The console in a real browser; its screenshots are left in {@code liberty/target/it/console}. */
class ConsoleIT {
  private static final Path FOLDER = Path.of(System.getProperty("dynamo.it.work"), "console");
  private static final String HOSTILE = "<img src=x onerror=document.title='taken'>";

  @SuppressWarnings("NullAway.Init") // before all
  private static Browser browser;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess server;

  @BeforeAll
  static void start() throws IOException {
    browser = Browser.start(FOLDER);
    server = SharedServer.get();
  }

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.close();
    }
  }

  @BeforeEach
  void setWindow() {
    browser.size(1440, 900);
    browser.prefer("light");
  }

  /**
   * Checks that the browser reports no error; everything that the policy of the page blocks is one.
   */
  @AfterEach
  void theBrowserHasNoComplaints() {
    assertThat(browser.complaints()).isEmpty();
  }

  private static void open(String view) {
    browser.go(server.uri("/console#" + view));
    browser.await(
        "the page is live", "return document.getElementById('contact')?.dataset.state === 'live'");
  }

  private static void chat() throws Exception {
    var answer =
        server.post("/v1/chat/completions", ChatClient.body(Cluster.MODEL, "Hello", 20, false));
    assertThat(answer.statusCode()).isEqualTo(200);
  }

  @Test
  void theStartPageLeadsToTheConsole() throws IOException {
    browser.go(server.uri("/"));
    browser.screenshot(FOLDER.resolve("home.png"));
    browser.click("a[href='/console']");
    browser.await("the models are listed", "return document.body.textContent.includes('Models')");
    assertThat(browser.run("return document.title").asText()).startsWith("Overview");
  }

  @Test
  void theDescriptionOfTheApiIsAPage() throws IOException {
    browser.go(server.uri("/docs"));
    browser.await("the routes", "return document.querySelectorAll('.opblock').length > 10");
    browser.click(".opblock-post .opblock-summary-control");
    browser.await("an operation", "return document.querySelector('.opblock-body') !== null");
    browser.screenshot(FOLDER.resolve("docs.png"));
  }

  @Test
  void theOverviewFollowsAChat() throws Exception {
    open("overview");
    browser.await("the model is ready", "return document.querySelector('td.state.good') !== null");
    assertThat(browser.text("console-overview tbody th")).isEqualTo(Cluster.MODEL);
    var total = "return parseInt(document.querySelector('.tile .more').textContent)";
    int before = browser.run(total).asInt();
    chat();
    browser.await(
        "the chat is counted",
        "const total = () => { %s }; return total() > %d".formatted(total, before));
    browser.await(
        "its latency is shown",
        "return document.querySelectorAll('.tile')[1].querySelector('.unit').textContent !== ''");
    browser.screenshot(FOLDER.resolve("overview.png"));
  }

  @Test
  void thePlaygroundStreamsAndItsAnswerIsExplained() throws IOException {
    open("playground");
    browser.await("a model is offered", "return document.querySelector('select').value !== ''");
    browser.type("textarea[name=prompt]", "What is the capital of France?");
    browser.click("button.primary");
    browser.await(
        "the answer has ended", "return document.querySelector('.status').textContent === 'Done'");
    assertThat(browser.text(".answer")).isNotBlank();
    assertThat(browser.text(".foot")).contains("first token", "out");
    browser.screenshot(FOLDER.resolve("playground.png"));
    browser.click(".foot a");
    browser.await(
        "its candidates", "return document.querySelectorAll('.detail tbody tr').length > 0");
    assertThat(browser.text("tr.chosen")).contains("chosen");
    browser.screenshot(FOLDER.resolve("routing.png"));
  }

  @Test
  void workersAreShownWithTheirRanks() throws IOException {
    open("workers");
    browser.await("a rank", "return document.querySelector('.worker tbody tr') !== null");
    assertThat(browser.text(".worker .state")).isEqualTo("live");
    browser.screenshot(FOLDER.resolve("workers.png"));
  }

  @Test
  void hostileNamesStayText() throws Exception {
    var body = ChatClient.body(HOSTILE, "Hello", 1, false);
    assertThat(server.post("/v1/chat/completions", body).statusCode()).isEqualTo(404);
    open("errors");
    browser.await("the error is listed", "return document.querySelector('td.reason') !== null");
    assertThat(browser.text("td.reason")).contains(HOSTILE);
    assertThat(browser.run("return document.querySelectorAll('main img').length").asInt()).isZero();
    assertThat(browser.run("return document.title").asText()).startsWith("Errors");
    browser.screenshot(FOLDER.resolve("errors.png"));
  }

  @Test
  void settingsAreFiltered() throws IOException {
    open("settings");
    browser.await("all settings", "return document.querySelectorAll('tbody tr').length > 100");
    browser.type("input[name=filter]", "dynamo.http.port");
    assertThat(
            browser
                .run("return document.querySelectorAll('tbody tr:not([hidden])').length")
                .asInt())
        .isEqualTo(1);
    assertThat(browser.text("tbody tr:not([hidden]) td.value"))
        .isEqualTo(Integer.toString(server.port()));
    browser.screenshot(FOLDER.resolve("settings.png"));
  }

  @Test
  void aTextCannotBecomeMarkup() {
    open("overview");
    var outcome =
        browser.run(
            "try { document.body.innerHTML = '<b>x</b>'; return 'taken' } catch (e) { return e.name"
                + " }");
    assertThat(outcome.asText()).isEqualTo("TypeError");
    assertThat(browser.complaints()).as("the policy reports it").isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({"dark, 1440", "light, 390", "dark, 390"})
  void noWidthAndNoSchemeMakesThePageWiderThanItsWindow(String scheme, int width)
      throws IOException {
    browser.prefer(scheme);
    browser.size(width, 900);
    for (var view : new String[] {"overview", "workers", "routing", "playground", "settings"}) {
      open(view);
      assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth").asInt())
          .as(view)
          .isLessThanOrEqualTo(0);
      browser.screenshot(FOLDER.resolve("%s-%s-%d.png".formatted(view, scheme, width)));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Origin, http://localhost:3000",
    "Sec-Fetch-Site, same-site",
    "Forwarded, for=1.2.3.4"
  })
  void otherPagesAndProxiesAreRefused(String name, String value) throws Exception {
    try (var client = HttpClient.newHttpClient()) {
      for (var path : new String[] {"/console", "/console/data/stream", "/console/data/settings"}) {
        var request =
            HttpRequest.newBuilder(server.uri(path))
                .timeout(Duration.ofSeconds(10))
                .header(name, value)
                .build();
        assertThat(client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode())
            .as(path)
            .isEqualTo(403);
      }
    }
  }
}
