package io.dynamo.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The talk with a model, by lines of a file and in a terminal. The terminal is Python's, of the
 * environment that {@code -Ddynamo.it.peer} names; left out without the property.
 */
class ChatTerminalTest {
  private static final String CTRL_C = "\u0003";
  private static final String CTRL_D = "\u0004";
  private static final String PROMPT = "> ";

  private final List<JsonObject> requests = new CopyOnWriteArrayList<>();
  private final CountDownLatch left = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);

  @AutoClose private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  @TempDir Path folder;
  private HttpServer server;

  /** A text that the terminal shows, and the keys that are typed then. */
  private record Step(String shown, String typed) {}

  private record Talk(int status, String shown) {}

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/v1/chat/completions", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    over.countDown();
    server.stop(0);
  }

  /** Answers a question with its letters turned round; two questions without an end. */
  private void answer(HttpExchange exchange) throws IOException {
    var request = Json.readObject(exchange.getRequestBody().readAllBytes());
    requests.add(request);
    exchange.sendResponseHeaders(200, 0);
    var question = String.valueOf(contents(request).getLast());
    var field = question.equals("think") ? "reasoning_content" : "content";
    var delta = Map.of(field, new StringBuilder(question).reverse() + ".");
    var event = Json.write(Map.of("choices", List.of(Map.of("delta", delta))));
    try (var body = exchange.getResponseBody()) {
      do {
        body.write("data: ".getBytes(StandardCharsets.UTF_8));
        body.write(event);
        body.write("\n\n".getBytes(StandardCharsets.UTF_8));
        body.flush();
      } while (List.of("ever", "think").contains(question)
          && !over.await(20, TimeUnit.MILLISECONDS));
      body.write("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
    } catch (IOException gone) {
      left.countDown();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<Map<?, ?>> messages(JsonObject request) {
    var messages = new ArrayList<Map<?, ?>>();
    for (var each : (List<?>) Objects.requireNonNull(request.members().get("messages"))) {
      messages.add((Map<?, ?>) Objects.requireNonNull(each));
    }
    return messages;
  }

  private static List<Object> contents(JsonObject request) {
    return messages(request).stream()
        .map(each -> Objects.requireNonNull((Object) each.get("content")))
        .toList();
  }

  /** The command as {@code bin/dynamo} starts it. */
  private List<String> chat() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin/java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        DynamoCommand.class.getName(),
        "chat",
        "--model",
        "m",
        "--url",
        "http://127.0.0.1:" + server.getAddress().getPort());
  }

  private Talk talk(Step... steps) throws Exception {
    var peer = System.getProperty("dynamo.it.peer", "");
    assumeFalse(
        peer.isEmpty() || peer.equals("skip"),
        "left out: -Ddynamo.it.peer names no Python environment");
    var program = folder.resolve("terminal.py");
    try (InputStream source = getClass().getResourceAsStream("/terminal.py")) {
      Files.copy(Objects.requireNonNull(source), program);
    }
    var typed = new ArrayList<List<String>>();
    for (var step : steps) {
      typed.add(List.of(step.shown, step.typed));
    }
    var json = new String(Json.write(Map.of("steps", typed)), StandardCharsets.UTF_8);
    var log = folder.resolve("shown.txt").toFile();
    var words = new ArrayList<>(List.of(peer + "/bin/python", program.toString(), json));
    words.addAll(chat());
    var process = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(log).start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("ended in time").isTrue();
      return new Talk(process.exitValue(), Files.readString(log.toPath()));
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aTalkHasTurnsAndEndsByCtrlD() throws Exception {
    var talk =
        talk(
            new Step(PROMPT, "siraP\n"),
            new Step("Paris.", ""),
            new Step(PROMPT, "emoR\n"),
            new Step("Rome.", ""),
            new Step(PROMPT, CTRL_D));

    assertThat(talk.status).as(talk.shown).isZero();
    assertThat(contents(requests.getLast())).containsExactly("siraP", "Paris.", "emoR");
  }

  @Test
  void ctrlCEndsAnAnswerAndNotTheTalk() throws Exception {
    var talk =
        talk(
            new Step(PROMPT, "ever\n"),
            new Step("reve.reve.", CTRL_C), // as it comes: it has no end
            new Step("(stopped)", ""),
            new Step(PROMPT, "emoR\n"),
            new Step("Rome.", ""),
            new Step(PROMPT, CTRL_D));

    assertThat(talk.status).as(talk.shown).isZero();
    assertThat(left.await(30, TimeUnit.SECONDS)).as("its connection ends").isTrue();
    assertThat(contents(requests.getLast())).hasSize(3).startsWith("ever").endsWith("emoR");
    assertThat((String) contents(requests.getLast()).get(1)).startsWith("reve.reve.");
  }

  @Test
  void aQuestionThatWasNotAnsweredIsForgotten() throws Exception {
    var talk =
        talk(
            new Step(PROMPT, "think\n"),
            new Step("kniht.", CTRL_C),
            new Step("(stopped)", ""),
            new Step(PROMPT, "emoR\n"),
            new Step("Rome.", ""),
            new Step(PROMPT, CTRL_D));

    assertThat(talk.status).as(talk.shown).isZero();
    assertThat(contents(requests.getLast())).containsExactly("emoR");
  }

  @Test
  void ctrlCWithoutAnAnswerEndsTheTalk() throws Exception {
    assertThat(talk(new Step(PROMPT, CTRL_C)).status).isEqualTo(130);
  }

  @Test
  void linesOfAFileAreTheMessagesOfOneTalk() throws Exception {
    var lines = Files.writeString(folder.resolve("lines.txt"), "siraP\n\nemoR\n");
    var answers = folder.resolve("answers.txt");
    var process =
        new ProcessBuilder(chat())
            .redirectError(folder.resolve("errors.txt").toFile())
            .redirectInput(lines.toFile())
            .redirectOutput(answers.toFile())
            .start();
    try {
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).as("ended in time").isTrue();
    } finally {
      process.destroyForcibly();
    }

    assertThat(answers).content().isEqualToNormalizingNewlines("Paris.\nRome.\n");
    assertThat(process.exitValue()).isZero();
    assertThat(contents(requests.getLast())).containsExactly("siraP", "Paris.", "emoR");
  }
}
