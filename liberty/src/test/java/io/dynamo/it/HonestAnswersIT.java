package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One worker on Dynamo's own runtime that plays a script, behind our frontend and Dynamo's at once:
 * clients get the same answers from both; only the text of an error may differ.
 */
@ManyServers
@Sampled
class HonestAnswersIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MODEL = "script";
  private static final Pattern TOKENS = Pattern.compile("TOKENS (\\[.*])");

  @TempDir static Path store;
  @TempDir static Path scripts;

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static Path script;
  private static PeerProcess worker;
  private static ServerProcess ours;
  private static PeerProcess theirs;

  @BeforeAll
  static void start() throws Exception {
    script = scripts.resolve("script.json");
    play(Map.of());
    worker =
        PeerProcess.script(
            "script-worker",
            store,
            "script_worker.py",
            PeerProcess.model().toString(),
            MODEL,
            script.toString());
    theirs = PeerProcess.frontend("script-theirs", store);
    ours =
        ServerProcess.Plan.named("script-ours")
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            .jvm("-Ddynamo.role=frontend")
            .start();
    ours.awaitReady();
    Polling.until("both list the model", LIMIT, () -> listed() && theirs.lists(MODEL));
  }

  @AfterAll
  static void stop() {
    for (var process : new AutoCloseable[] {ours, theirs, worker}) {
      try {
        if (process != null) {
          process.close();
        }
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static boolean listed() throws IOException, InterruptedException {
    return ours.get("/v1/models").body().contains('"' + MODEL + '"');
  }

  private static void play(Map<String, ?> what) throws IOException {
    Files.writeString(script, JSON.writeValueAsString(what));
  }

  private static HttpResponse<String> ask(int port, String more)
      throws IOException, InterruptedException {
    var body =
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]" + more + "}";
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/chat/completions"))
            .timeout(LIMIT)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static JsonNode choice(HttpResponse<String> answer) throws IOException {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body()).at("/choices/0");
  }

  /** One token for each character: those of ASCII stand at their place in the vocabulary. */
  private static List<Map<String, Object>> says(String text, String... finish) throws Exception {
    var vocabulary =
        JSON.readTree(PeerProcess.model().resolve("tokenizer.json").toFile()).at("/model/vocab");
    Stream<Map<String, Object>> tokens =
        text.chars()
            .mapToObj(
                c -> {
                  var name = c == ' ' ? "\u0120" : c == '\n' ? "\u010a" : Character.toString(c);
                  assertThat(vocabulary.has(name)).as(name).isTrue();
                  return Map.of("token_ids", List.of(vocabulary.get(name).asInt()));
                });
    Stream<Map<String, Object>> end =
        Stream.of(finish).map(it -> Map.of("token_ids", List.of(), "finish_reason", it));
    return Stream.concat(tokens, end).toList();
  }

  @ParameterizedTest
  @CsvSource({
    "400, 400, own words",
    "401, 401, own words",
    "403, 403, own words",
    "404, 404, own words",
    "409, 409, own words",
    "413, 413, own words",
    "415, 415, own words",
    "422, 400, own words",
    "429, 429, own words",
    "499, 499, Request cancelled",
    "500, 500, Internal server error",
    "503, 503, Service temporarily unavailable",
    "529, 529, Service temporarily overloaded",
    "302, 500, Internal server error"
  })
  void aWorkersStatusIsThatOfTheAnswerBehindBothFrontends(int code, int status, String words)
      throws Exception {
    play(Map.of("raise", Map.of("code", code, "message", "own words")));
    var answer = ask(ours.port(), "");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(JSON.readTree(answer.body()).at("/error/message").asText()).isEqualTo(words);
    assertThat(ask(theirs.port(), "").statusCode()).isEqualTo(status);
  }

  /**
   * In frames both agree in status and type; Dynamo has 500 for the first two of a whole answer.
   */
  @ParameterizedTest
  @CsvSource({"501, 501", "502, 502", "429, 429", "404, 404", "401, 401"})
  void aWorkersStatusInMidStreamIsThatOfTheFrameBehindBothFrontends(int code, int framed)
      throws Exception {
    play(Map.of("items", says("Hi"), "raise", Map.of("code", code, "message", "own words")));
    var error = frame(ask(theirs.port(), ",\"stream\":true"));
    assertThat(error.path("code").asInt()).isEqualTo(framed);
    var own = frame(ask(ours.port(), ",\"stream\":true"));
    assertThat(own.path("code").asInt()).isEqualTo(framed);
    assertThat(own.path("type")).isEqualTo(error.path("type"));
  }

  private static JsonNode frame(HttpResponse<String> answer) throws IOException {
    var last =
        answer.body().lines().filter(line -> line.startsWith("data: {\"error\"")).findFirst();
    return JSON.readTree(last.orElseThrow(() -> new AssertionError(answer.body())).substring(6))
        .path("error");
  }

  @Test
  void engineExceptionMessagesAreNotDisclosed() throws Exception {
    for (var type : List.of("ValueError", "RuntimeError")) {
      play(Map.of("raise", Map.of("type", type, "message", "secret detail")));
      int status = type.equals("ValueError") ? 400 : 500;
      for (int port : new int[] {ours.port(), theirs.port()}) {
        var answer = ask(port, "");
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.body()).doesNotContain("secret");
      }
    }
  }

  @Test
  void aStreamWithoutAFinishReasonIsAnsweredOnceBehindBothFrontends() throws Exception {
    play(Map.of("items", says("Hello")));
    var unfinished = "dynamo_frontend_model_unfinished_streams_total";
    long before = ServerFacts.metric(ours, unfinished, "");
    for (int port : new int[] {ours.port(), theirs.port()}) {
      var answer = ask(port, "");
      assertThat(choice(answer).at("/message/content").asText()).isEqualTo("Hello");
      assertThat(choice(answer).path("finish_reason").isNull()).isTrue();
      assertThat(JSON.readTree(answer.body()).has("usage")).isFalse();
      var stream = ask(port, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}").body();
      assertThat(stream).endsWith("data: [DONE]\n\n").doesNotContain("usage", "error");
    }
    ServerFacts.awaitMetric(ours, unfinished, "", before + 2);
  }

  @Test
  void annotationsOfAWorkerStandInBothStreams() throws Exception {
    var items = new java.util.ArrayList<Map<String, Object>>();
    items.add(Map.of("_dynamo_annotated", true, "event", "note", "comment", List.of("one", "two")));
    items.addAll(says("A"));
    items.add(Map.of("_dynamo_annotated", true, "event", "bare"));
    items.add(Map.of("_dynamo_annotated", true, "comment", List.of("without an event")));
    items.addAll(says("B", "stop"));
    play(Map.of("items", items));
    for (int port : new int[] {theirs.port(), ours.port()}) {
      var stream = ask(port, ",\"stream\":true").body();
      assertThat(stream)
          .startsWith("event: note\n: one\n: two\n\ndata: {")
          .contains("\n\nevent: bare\n\ndata: {")
          .doesNotContain("without an event");
      assertThat(choice(ask(port, "")).at("/message/content").asText()).isEqualTo("AB");
    }
  }

  @Test
  void minTokensAreCountedAlike() throws Exception {
    play(Map.of("items", says("xxxy", "length")));
    for (int least = 0; least < 4; least++) {
      var more = ",\"stop\":[\"x\"],\"max_tokens\":9,\"min_tokens\":" + least;
      var expected = choice(ask(theirs.port(), more));
      var own = choice(ask(ours.port(), more));
      assertThat(own.at("/message/content")).isEqualTo(expected.at("/message/content"));
      assertThat(own.path("finish_reason")).isEqualTo(expected.path("finish_reason"));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '\u00a6',
      quoteCharacter = '`',
      textBlock =
          """
          {"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"location":{"type":"string"}}}}}
          {"function":{"strict":false,"parameters":{"properties":{"b":{"description":"x","type":"string"}}},"more":1,"description":"d","name":"g"},"type":"function"}
          {"type":"function","function":{"name":"g","description":null,"parameters":{"n":12345678901234567890123,"e":1e2}}}
          """)
  void aPromptWithToolsHasTheSameTokensBehindBothFrontends(String tool) throws Exception {
    play(Map.of("items", says("ok", "stop")));
    var more = ",\"tools\":[" + tool + "]";
    choice(ask(theirs.port(), more));
    var expected = lastTokens();
    choice(ask(ours.port(), more));
    assertThat(lastTokens()).isEqualTo(expected);
  }

  /** The prompt that the worker was asked for last: printed before its answer. */
  private static JsonNode lastTokens() throws IOException {
    var last =
        TOKENS
            .matcher(worker.console())
            .results()
            .reduce((_, next) -> next)
            .orElseThrow(() -> new AssertionError(worker.console()));
    return JSON.readTree(last.group(1));
  }
}
