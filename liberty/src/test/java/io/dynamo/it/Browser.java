package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A real Chromium without a window, driven by WebDriver's wire protocol. Its tests are left out
 * where it is not installed, unless {@code -Ddynamo.it.chromium=required}. Owned by one test
 * thread.
 */
final class Browser implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final List<String> PROGRAMS = List.of("chromium", "chromedriver");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  private final Process driver;
  private final String driverAddress;
  private String session = "";

  private Browser(Process driver, int port) {
    this.driver = driver;
    this.driverAddress = "http://127.0.0.1:" + port;
  }

  /**
   * Starts a browser.
   *
   * @param folder for the driver's log
   */
  static Browser start(Path folder) throws IOException {
    boolean installed = PROGRAMS.stream().allMatch(Browser::isInstalled);
    if (!"required".equals(System.getProperty("dynamo.it.chromium"))) {
      assumeTrue(
          installed,
          "left out: Chromium is not installed (Debian's packages chromium, chromium-driver)");
    }
    assertThat(installed).as("Chromium and its driver are installed").isTrue();
    int port = ServerProcess.freePort();
    Files.createDirectories(folder);
    var process =
        new ProcessBuilder("chromedriver", "--port=" + port)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("chromedriver.log").toFile())
            .start();
    var browser = new Browser(process, port);
    try {
      browser.open();
      return browser;
    } catch (RuntimeException | Error e) {
      browser.close();
      throw e;
    }
  }

  private static boolean isInstalled(String program) {
    return Pattern.compile(Pattern.quote(File.pathSeparator))
        .splitAsStream(System.getenv().getOrDefault("PATH", ""))
        .anyMatch(part -> Files.isExecutable(Path.of(part, program)));
  }

  private void open() {
    Polling.until(
        "the driver is ready",
        PATIENCE,
        () -> call("GET", "/status", null).path("ready").asBoolean());
    var options =
        Map.of(
            "args",
            List.of(
                "--headless=new",
                "--no-sandbox", // tests may run as root
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars"));
    var capabilities =
        Map.of("goog:chromeOptions", options, "goog:loggingPrefs", Map.of("browser", "ALL"));
    session =
        "/session/"
            + call("POST", "/session", Map.of("capabilities", Map.of("alwaysMatch", capabilities)))
                .path("sessionId")
                .asText();
  }

  void go(URI address) {
    call("POST", session + "/url", Map.of("url", address.toString()));
  }

  /** Sets the size of the page in pixels. */
  void size(int width, int height) {
    devTools(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  /** Sets the preferred color scheme that the page sees, {@code dark} for example. */
  void prefer(String scheme) {
    devTools(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(
                Map.of("name", "prefers-color-scheme", "value", scheme),
                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
  }

  private void devTools(String command, Map<String, ?> parameters) {
    call("POST", session + "/goog/cdp/execute", Map.of("cmd", command, "params", parameters));
  }

  /** Runs a script in the page, which returns its result. */
  JsonNode run(String script) {
    return call("POST", session + "/execute/sync", Map.of("script", script, "args", List.of()));
  }

  /** Waits until a script returns true. */
  void await(String what, String script) {
    Polling.until(what, PATIENCE, Duration.ofMillis(100), () -> run(script).asBoolean());
  }

  /** The visible text of the first element that a selector finds. */
  String text(String selector) {
    return call("GET", session + "/element/" + element(selector) + "/text", null).asText();
  }

  void click(String selector) {
    call("POST", session + "/element/" + element(selector) + "/click", Map.of());
  }

  /** Types into an input. */
  void type(String selector, String text) {
    call("POST", session + "/element/" + element(selector) + "/value", Map.of("text", text));
  }

  private String element(String selector) {
    var found =
        call("POST", session + "/element", Map.of("using", "css selector", "value", selector));
    return found.elements().next().asText();
  }

  /** The messages on the browser's console since the last call, errors and warnings. */
  List<String> complaints() {
    var complaints = new ArrayList<String>();
    for (var entry : call("POST", session + "/se/log", Map.of("type", "browser"))) {
      var level = entry.path("level").asText();
      if (level.equals("SEVERE") || level.equals("WARNING")) {
        complaints.add(entry.path("message").asText());
      }
    }
    return complaints;
  }

  /** Saves what the window shows as a PNG file. */
  void screenshot(Path file) throws IOException {
    var png = call("GET", session + "/screenshot", null).asText();
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(png));
  }

  private JsonNode call(String method, String path, @Nullable Object body) {
    try {
      var request =
          HttpRequest.newBuilder(URI.create(driverAddress + path))
              .timeout(PATIENCE)
              .header("content-type", "application/json")
              .method(
                  method,
                  body == null
                      ? HttpRequest.BodyPublishers.noBody()
                      : HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)))
              .build();
      var response = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
      var value = JSON.readTree(response.body()).path("value");
      if (response.statusCode() != 200) {
        throw new AssertionError(method + " " + path + ": " + value.path("message").asText());
      }
      return value;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while it waited for the browser", e);
    }
  }

  @Override
  public void close() {
    try {
      if (!session.isEmpty()) {
        call("DELETE", session, null);
      }
    } finally {
      driver.descendants().forEach(ProcessHandle::destroy);
      driver.destroy();
      driver.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    }
  }
}
