package io.dynamo.runtime.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.plane.ModelFileSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.json.Json;
import io.dynamo.model.ModelDirectory;
import io.dynamo.model.ModelFileReader;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.ManualAlarms;
import io.dynamo.testing.ManualClock;
import io.dynamo.testing.TestSettings;
import io.dynamo.testing.TestStatus;
import io.dynamo.wire.Golden;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests against a started server; the answers are those that were captured from Dynamo. */
@Timeout(30)
class StatusServerTest {
  private static final EventLoops LOOPS = new EventLoops(1); // daemons, shared, never closed

  private final ManualClock clock = ManualClock.now();
  private final SystemStatus status = TestStatus.with(Map.of(), new ManualAlarms(clock), clock);
  private final HttpClient client = HttpClient.newHttpClient();
  private Supplier<String> metrics = () -> "x 1\n";
  private StatusServer server =
      start(Map.of("dynamo.system.port", "0", "dynamo.system.lora-routes", "true"));

  private StatusServer start(Map<String, String> settings) {
    return new StatusServer(
        TestSettings.with(settings).status(),
        LOOPS,
        InetAddress.getLoopbackAddress(),
        status,
        List.of("admin.internal"),
        () -> metrics.get());
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private HttpResponse<String> ask(String method, String path, String... headersThenBody)
      throws Exception {
    int headers = headersThenBody.length / 2 * 2;
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.address().getPort() + path))
            .timeout(Duration.ofSeconds(20))
            .method(
                method,
                headers == headersThenBody.length
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(headersThenBody[headers]));
    for (int i = 0; i < headers; i += 2) {
      request.header(headersThenBody[i], headersThenBody[i + 1]);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private record Captured(String head, String body) {
    static Captured of(String name) {
      var text =
          new String(Golden.bytes("system-server/" + name + ".http"), StandardCharsets.UTF_8);
      int end = text.indexOf("\r\n\r\n");
      return new Captured(text.substring(0, end), text.substring(end + 4));
    }

    int code() {
      return Integer.parseInt(head.split(" ", 3)[1]);
    }

    /** Header lines by which programs go; length and date are the body's and the clock's. */
    List<String> headers() {
      return head.lines()
          .skip(1)
          .filter(line -> !line.startsWith("content-length:") && !line.startsWith("date:"))
          .toList();
    }
  }

  private static List<String> headers(HttpResponse<?> answer) {
    return answer.headers().map().entrySet().stream()
        .filter(each -> !List.of("content-length", "date").contains(each.getKey()))
        .map(each -> each.getKey() + ": " + String.join(",", each.getValue()))
        .toList();
  }

  private void assertHead(HttpResponse<?> answer, Captured captured) {
    assertThat(answer.statusCode()).isEqualTo(captured.code());
    assertThat(headers(answer)).isEqualTo(captured.headers());
    assertThat(answer.headers().firstValue("date")).isPresent();
    assertThat(answer.headers().firstValue("content-length")).isPresent();
  }

  @ParameterizedTest
  @CsvSource({
    "health-post, POST, /health",
    "metadata-404, GET, /metadata",
    "not-found, GET, /nope",
    "engine-unknown, GET, /engine/foo",
    "loras-get, GET, /v1/loras",
    "loras-delete, DELETE, /v1/loras/a/b",
    "self-hosted-unknown, GET, /v1/metadata/dynamo/backend/generate/tiny/_base/weights.bin",
  })
  void answersAsCaptured(String name, String method, String path) throws Exception {
    var captured = Captured.of(name);
    var answer = ask(method, path);
    assertHead(answer, captured);
    assertThat(answer.body()).isEqualTo(captured.body());
  }

  @Test
  void metadataIsAnsweredOncePublished() throws Exception {
    status.publishMetadata(() -> "{\"endpoints\":{}}".getBytes(StandardCharsets.UTF_8));

    var answer = ask("GET", "/metadata");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).contains("application/json");
    assertThat(answer.body()).isEqualTo("{\"endpoints\":{}}");
    assertThat(ask("POST", "/metadata").statusCode()).isEqualTo(405);
  }

  @Test
  void answersToBodiesAsCaptured() throws Exception {
    var load = "{\"lora_name\":\"x\",\"source\":{\"uri\":\"file:///x\"}}";
    var answer = ask("POST", "/v1/loras", "content-type", "application/json", load);
    assertHead(answer, Captured.of("loras-post"));
    assertThat(answer.body()).isEqualTo(Captured.of("loras-post").body());

    answer = ask("POST", "/v1/loras", load);
    assertHead(answer, Captured.of("loras-post-no-content-type"));
    assertThat(answer.body()).isEqualTo(Captured.of("loras-post-no-content-type").body());

    answer = ask("POST", "/engine/foo", "nonsense");
    assertHead(answer, Captured.of("engine-bad-json"));
    var reply = Json.readObject(answer.body().getBytes(StandardCharsets.UTF_8));
    assertThat(reply.members().keySet()).containsExactly("error", "message");
    assertThat(reply.text("error")).isEqualTo("Invalid JSON");
  }

  @ParameterizedTest
  @CsvSource({"/health, health-notready", "/live, live-notready"})
  void healthIsSaidInDynamosWords(String path, String name) throws Exception {
    status.health().add("worker_kv_query_source_928e384d2ff2");
    var generate = status.health().add("generate");
    clock.advance(Duration.ofSeconds(36, 297_116_948));
    var answer = ask("GET", path);
    assertHead(answer, Captured.of(name));
    assertThat(answer.body())
        .isEqualTo(Captured.of(name).body().replaceFirst("\"nanos\":\\d+", "\"nanos\":297116948"));
    generate.close();
    assertThat(ask("GET", path).body()).doesNotContain("generate");
  }

  @Test
  void aReadyProcessAnswers200() throws Exception {
    status
        .health()
        .add(
            "generate",
            (_, _) -> {
              throw new AssertionError("not probed");
            },
            () -> "probe",
            _ -> false,
            () -> {})
        .start();
    var answer = ask("GET", "/health");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).startsWith("{\"status\":\"ready\",\"uptime\":{\"secs\":0,");
  }

  @Test
  void onlyFilesOfOurCardsAreServed(@TempDir Path directory) throws Exception {
    var config = Captured.of("self-hosted-config").body();
    Files.writeString(directory.resolve("config.json"), config);
    Files.writeString(directory.resolve("tokenizer.json"), "{}");
    Files.writeString(directory.resolve("tokenizer_config.json"), "{}");
    Files.writeString(directory.resolve(".secret"), "s");
    var card = ModelDirectory.open(directory).card("tiny", 16, Map.of());
    var folder = "/v1/metadata/dynamo/backend/generate/tiny/_base/";
    var hosted = status.files().add(EndpointId.parse("dynamo.backend.generate"), card, null);
    try (var _ = hosted.files()) {
      var announced = hosted.card().config();
      assertThat(announced).isNotNull();
      if (announced != null) {
        assertThat(announced.path())
            .isEqualTo(
                "http://127.0.0.1:%d%sconfig.json".formatted(server.address().getPort(), folder));
        assertThat(
                new ModelFileReader(new ModelFileSettings(1 << 20, List.of(), Set.of()))
                    .read(announced, 1 << 20))
            .isEqualTo(config.getBytes(StandardCharsets.UTF_8));
      }
      var answer = ask("GET", folder + "config.json");
      assertHead(answer, Captured.of("self-hosted-config"));
      assertThat(answer.body()).isEqualTo(config);

      answer = ask("HEAD", folder + "config.json");
      assertHead(answer, Captured.of("self-hosted-head"));
      assertThat(answer.headers().firstValueAsLong("content-length")).hasValue(config.length());
      assertThat(answer.body()).isEmpty();

      answer = ask("GET", folder + "config.json", "Range", "bytes=0-9");
      assertHead(answer, Captured.of("self-hosted-range"));
      assertThat(answer.body()).isEqualTo(config);

      for (var other : List.of(".secret", "../_base/config.json", "%2e%2e/_base/.secret", "")) {
        assertThat(ask("GET", folder + other).statusCode()).as(other).isEqualTo(404);
      }
      Files.delete(directory.resolve("config.json"));
      assertThat(ask("GET", folder + "config.json").statusCode()).isEqualTo(404);
    }
    assertThat(ask("GET", folder + "tokenizer.json").body()).isEqualTo("Not found");
  }

  @Test
  void engineRoutesTakeAndGiveJson() throws Exception {
    var route =
        status.engine().add("control/sleep", body -> Map.of("level", body.count("level") + 1));
    var answer = ask("POST", "/engine/control/sleep", "{\"level\":1}");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("{\"level\":2}");
    assertThatThrownBy(() -> status.engine().add("control/sleep", body -> body.members()))
        .isInstanceOf(IllegalStateException.class);

    route.close();
    assertThat(ask("PUT", "/engine/control/sleep").statusCode()).isEqualTo(404);

    try (var _ =
        status
            .engine()
            .add(
                "wake",
                _ -> {
                  throw new IllegalStateException("asleep for good");
                })) {
      answer = ask("POST", "/engine/wake");
      assertThat(answer.statusCode()).isEqualTo(500);
      assertThat(answer.body())
          .isEqualTo("{\"error\":\"Handler error\",\"message\":\"asleep for good\"}");
    }
  }

  @Test
  void commandsAreNotTakenFromWebPages() throws Exception {
    try (var _ = status.engine().add("sleep", body -> body.members())) {
      assertThat(ask("POST", "/engine/sleep", "Origin", "https://example.org").statusCode())
          .isEqualTo(403);
      assertThat(ask("GET", "/engine/sleep", "Sec-Fetch-Site", "cross-site").statusCode())
          .isEqualTo(403);
      assertThat(ask("POST", "/engine/sleep").statusCode()).isEqualTo(200);
    }
    assertThat(ask("GET", "/v1/loras", "Origin", "https://example.org").statusCode())
        .isEqualTo(403);
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD", "PUT", "DELETE", "PATCH"})
  void commandsAreGivenByPostAlone(String method) throws Exception {
    var ran = new AtomicBoolean();
    HttpResponse<String> answer;
    try (var _ =
        status
            .engine()
            .add(
                "sleep",
                body -> {
                  ran.set(true);
                  return body.members();
                })) {
      answer = ask(method, "/engine/sleep");
    }
    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.headers().firstValue("allow")).hasValue("POST");
    assertThat(ran).isFalse();
  }

  @Test
  void questionsAreAnsweredToGetToo() throws Exception {
    try (var _ = status.engine().addQuestion("state", _ -> Map.of("ready", true))) {
      assertThat(ask("GET", "/engine/state").body()).isEqualTo("{\"ready\":true}");
      assertThat(ask("POST", "/engine/state", "{}").statusCode()).isEqualTo(200);
      assertThat(ask("DELETE", "/engine/state").statusCode()).isEqualTo(405);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, 200",
    "application/json; charset=utf-8, 200",
    "application/x-www-form-urlencoded, 200", // what curl -d says
    "text/plain, 415",
    "multipart/form-data; boundary=x, 415",
  })
  void bodiesThatPagesSendUnaskedAreRefused(String type, int expected) throws Exception {
    try (var _ = status.engine().add("sleep", body -> body.members())) {
      assertThat(ask("POST", "/engine/sleep", "Content-Type", type, "{}").statusCode())
          .isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/engine/sleep", "/v1/loras", "/v1/loras/x"})
  void commandsAreNotTakenUnderForeignNamesOrThroughProxies(String path) throws Exception {
    var ran = new AtomicBoolean();
    try (var _ =
        status
            .engine()
            .add(
                "sleep",
                body -> {
                  ran.set(true);
                  return body.members();
                })) {
      var ends = Map.of("attacker.example:80", 403, "admin.internal", 200, "localhost", 200);
      for (var end : ends.entrySet()) {
        var reply = raw("POST " + path, "Host: " + end.getKey() + "\r\n");
        assertThat(reply.contains(" 403 ")).as(reply).isEqualTo(end.getValue() == 403);
        assertThat(ran.getAndSet(false))
            .isEqualTo(end.getValue() == 200 && path.equals("/engine/sleep"));
      }
      assertThat(raw("POST " + path, "Host: localhost\r\nX-Forwarded-For: 10.0.0.9\r\n"))
          .startsWith("HTTP/1.1 403 ");
      assertThat(ran).isFalse();
    }
  }

  /** Returns the answer to a head that no HTTP client would write. */
  private String raw(String what, String headers) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
      socket.setSoTimeout(20_000);
      socket
          .getOutputStream()
          .write(
              (what + " HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n" + headers + "\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/health", "/metrics", "/engine/none", "/v1/loras", "/nope"})
  void everyAnswerRepeatsTheRequestIdOfItsCaller(String path) throws Exception {
    assertThat(ask("GET", path, "X-Request-Id", "mine-1").headers().allValues("x-request-id"))
        .containsExactly("mine-1");
    assertThat(raw("GET " + path, "Host: localhost\r\nX-Request-Id: a\u007fb\r\n"))
        .doesNotContain("a\u007fb");
  }

  @Test
  void adaptersAreTheEnginesWork() throws Exception {
    try (var _ =
        status
            .engine()
            .add(
                "load_lora",
                body ->
                    Map.of(
                        "status",
                        "success",
                        "lora_name",
                        body.text("lora_name") + body.object("source").text("uri"),
                        "lora_id",
                        7,
                        "other",
                        1))) {
      var answer =
          ask(
              "POST",
              "/v1/loras",
              "content-type",
              "application/json; charset=utf-8",
              "{\"lora_name\":\"x\",\"source\":{\"uri\":\"file:///x\"}}");
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body())
          .isEqualTo("{\"status\":\"success\",\"lora_name\":\"xfile:///x\",\"lora_id\":7}");
      answer = ask("POST", "/v1/loras", "content-type", "application/json", "{}");
      assertThat(answer.statusCode()).isEqualTo(422);
    }
    try (var _ = status.engine().add("list_loras", _ -> Map.of("status", "error"))) {
      assertThat(ask("GET", "/v1/loras").statusCode()).isEqualTo(500);
    }
  }

  @Test
  void metricsAreTextAndTheirFailureIsSaid() throws Exception {
    var answer = ask("GET", "/metrics");
    assertThat(answer.headers().firstValue("content-type"))
        .hasValue("text/plain; version=0.0.4; charset=utf-8");
    assertThat(answer.body()).isEqualTo("x 1\n");
    metrics =
        () -> {
          throw new IllegalStateException("broken");
        };
    answer = ask("GET", "/metrics");
    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(answer.body()).isEqualTo("Failed to get metrics");
  }

  @Test
  void pathsAreNamedBySettingsAndRoutesCanBeLeftOut() throws Exception {
    server.close();
    assertThat(status.address()).isNull();
    server =
        start(
            Map.of(
                "dynamo.system.port", "0",
                "dynamo.system.health-path", "/healthz",
                "dynamo.system.self-host-metadata", "false"));
    assertThat(status.address()).isEqualTo(server.address());
    assertThat(ask("GET", "/healthz").statusCode()).isEqualTo(503);
    for (var gone : List.of("/health", "/v1/loras", "/v1/metadata/a/b/c/d/e/f")) {
      assertThat(ask("GET", gone).body()).isEqualTo("Route not found");
    }
  }
}
