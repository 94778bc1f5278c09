package io.dynamo.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against a server that answers each text with it and an exclamation mark. */
@Timeout(60)
class BatchCommandTest {
  @TempDir
  @SuppressWarnings("NullAway.Init") // before each
  private Path folder;

  @SuppressWarnings("NullAway.Init") // before each
  private HttpServer server;

  private final ConcurrentLinkedQueue<JsonObject> asked = new ConcurrentLinkedQueue<>();
  private final AtomicInteger refusals = new AtomicInteger(); // that are left
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger(); // that ran at once

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/v1/models", exchange -> send(exchange, 200, "{\"data\":[{\"id\":\"one\"}]}"));
    server.createContext("/v1/chat/completions", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    most.accumulateAndGet(running.incrementAndGet(), Math::max);
    var body = Json.readObject(exchange.getRequestBody().readAllBytes());
    asked.add(body);
    var text = body.optionalObjects("messages").getFirst().text("content");
    running.decrementAndGet();
    if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      send(exchange, 503, "{\"message\":\"full\"}");
    } else if (text.equals("bad")) {
      send(exchange, 400, "{\"error\":{\"message\":\"not this\"}}");
    } else {
      send(
          exchange,
          200,
          """
          {"id":"chatcmpl-1","choices":[{"index":0,"finish_reason":"stop","message":{"content":"%s!"}}],
           "usage":{"prompt_tokens":2,"completion_tokens":3}}\
          """
              .formatted(text));
    }
  }

  private static void send(HttpExchange exchange, int status, String text) throws IOException {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private Path file(String... lines) throws IOException {
    return Files.write(folder.resolve("texts.jsonl"), List.of(lines));
  }

  private CommandOutcome batch(Path file, String... options) {
    var arguments = new ArrayList<>(List.of("batch", file.toString(), "--url"));
    arguments.add("http://127.0.0.1:" + server.getAddress().getPort());
    arguments.addAll(List.of(options));
    return CommandOutcome.of(arguments.toArray(String[]::new));
  }

  private List<JsonObject> answers() throws IOException {
    return Files.readAllLines(folder.resolve("output.jsonl")).stream()
        .map(line -> Json.readObject(line.getBytes(StandardCharsets.UTF_8)))
        .toList();
  }

  @Test
  void answersComeInTheOrderOfTheTexts() throws IOException {
    var lines = new String[40];
    for (int i = 0; i < lines.length; i++) {
      lines[i] = "{\"text\":\"t%d\"}".formatted(i);
    }
    lines[7] = ""; // left out

    var outcome = batch(file(lines), "--at-once", "4", "--max-tokens", "9");

    assertThat(outcome.status()).as(outcome.error()).isZero();
    assertThat(outcome.error()).contains("39 answered, 0 failed", "78 tokens in, 117 out");
    assertThat(answers()).hasSize(39);
    assertThat(answers().get(7).text("response")).isEqualTo("t8!");
    assertThat(answers().getLast().members())
        .containsKeys("elapsed_ms")
        .containsEntry("text", "t39")
        .containsEntry("tokens_in", 2)
        .containsEntry("tokens_out", 3)
        .containsEntry("finish_reason", "stop")
        .containsEntry("request_id", "chatcmpl-1");
    assertThat(most.get()).isLessThanOrEqualTo(4);
    assertThat(asked)
        .allSatisfy(
            body -> {
              assertThat(body.text("model")).isEqualTo("one");
              assertThat(body.count("max_tokens")).isEqualTo(9);
            });
  }

  @Test
  void aTextThatFailsIsOneLineAndTheOthersGoOn() throws IOException {
    var outcome = batch(file("{\"text\":\"a\"}", "{\"text\":\"bad\"}", "{\"text\":\"b\"}"));

    assertThat(outcome.status()).isEqualTo(ExitCode.REFUSED);
    assertThat(outcome.error()).contains("2 answered, 1 failed");
    assertThat(answers().get(1).text("error")).isEqualTo("400: not this");
    assertThat(answers().get(2).text("response")).isEqualTo("b!");
  }

  @Test
  void aServerThatIsFullIsAskedAgain() throws IOException {
    refusals.set(1);

    assertThat(batch(file("{\"text\":\"a\"}"), "--model", "two").status()).isZero();

    assertThat(asked).hasSize(2).allSatisfy(it -> assertThat(it.text("model")).isEqualTo("two"));
    assertThat(answers().getFirst().text("response")).isEqualTo("a!");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"txt\":\"a\"}", "[]", "hello", "{\"text\":", "{\"text\":7}"})
  void nothingIsAskedWhenALineIsWrong(String line) throws IOException {
    var outcome = batch(file("{\"text\":\"a\"}", line));

    assertThat(outcome.status()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.error()).contains("line 2");
    assertThat(asked).isEmpty();
    assertThat(folder.resolve("output.jsonl")).doesNotExist();
  }

  @Test
  void answersThatExistAreKept() throws IOException {
    var kept = Files.writeString(folder.resolve("output.jsonl"), "mine");

    var outcome = batch(file("{\"text\":\"a\"}"));

    assertThat(outcome.status()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.error()).contains("--output");
    assertThat(kept).hasContent("mine");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--at-once=0", "--at-once=1025", "--max-tokens=0"})
  void numbersBeyondTheirBoundsAreRefused(String option) throws IOException {
    var outcome = batch(file("{\"text\":\"a\"}"), option);

    assertThat(outcome.status()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.error()).contains(option.replace('=', ' '));
    assertThat(asked).isEmpty();
  }

  @Test
  void aServerThatGoesAwayEndsTheCommand() throws IOException {
    server.stop(0);

    assertThat(batch(file("{\"text\":\"a\"}"), "--model", "one").status())
        .isEqualTo(ExitCode.UNREACHABLE);
  }
}
