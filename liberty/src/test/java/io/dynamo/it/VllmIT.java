package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * A frontend and two workers, each before a real vLLM with the model that ships along, whose
 * addresses {@code -Ddynamo.it.vllm} names and whose processes {@code -Ddynamo.it.vllm.pids}. The
 * last test kills one of them.
 */
@ManyServers
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class VllmIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path GOLDEN = Path.of("../frontend-war/src/test/resources/tiny/golden.json");
  private static final String END = "<|im_end|>";
  private static final int STREAMS = 16;
  private static final int LONG_TOKENS = 300;
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static Cluster cluster;
  private static List<URI> engines;

  @BeforeAll
  static void serve() throws IOException {
    var addresses = System.getProperty("dynamo.it.vllm", "");
    assumeFalse(
        addresses.isEmpty(), "left out: -Ddynamo.it.vllm names no vLLM servers; see .ci/engines");
    engines = List.of(addresses.split(",", 2)).stream().map(URI::create).toList();
    assertThat(engines).hasSize(2);
    cluster = Cluster.Plan.of("vllm", 2).worker(engine(0)).start();
    cluster.replaceWorker(1, engine(1));
  }

  private static Map<String, String> engine(int index) {
    return Map.of(
        "DYNAMO_WORKER_ENGINE", "vllm",
        "DYNAMO_WORKER_RANKS", "1",
        "DYNAMO_WORKER_REMOTE_URL", engines.get(index).toString());
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  @Order(1)
  void goldenConversationsAreAnsweredAsByPyTorch() throws Exception {
    int compared = 0;
    for (var golden : JSON.readTree(GOLDEN.toFile())) {
      var output = golden.get("output_text").asText();
      var request = golden.get("request");
      if (!request.has("messages")
          || request.get("messages").toString().contains("tool_calls")
          || output.contains("<tool_call>")
          || output.contains("think>")) {
        continue; // tool calls and thoughts are taken apart; the tokens are compared elsewhere
      }
      var body = JSON.createObjectNode();
      body.put("model", Cluster.MODEL);
      body.put("temperature", 0);
      body.put("max_tokens", golden.get("output_ids").size());
      body.set("messages", request.get("messages"));
      if (request.has("tools")) {
        body.set("tools", request.get("tools"));
      }
      if (request.has("enable_thinking")) {
        body.putObject("chat_template_kwargs")
            .set("enable_thinking", request.get("enable_thinking"));
      }
      var answer = cluster.frontend().post("/v1/chat/completions", body.toString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      var content = JSON.readTree(answer.body()).at("/choices/0/message/content").asText();
      assertThat(content).as(golden.get("name").asText()).isEqualTo(output.replace(END, ""));
      compared++;
    }
    assertThat(compared).isGreaterThan(8);
  }

  @Test
  @Order(2)
  void repeatedPromptsGoToTheEngineThatHasThemInItsCache() throws Exception {
    for (int prompt = 0; prompt < 4; prompt++) {
      var words = "prompt " + prompt + " " + "tell me about ownership and borrowing ".repeat(20);
      var body = ChatClient.body(Cluster.MODEL, words, 2, false);
      long tokens = ask(body).at("/usage/prompt_tokens").asLong();
      Polling.until(
          "the router knows the blocks of prompt " + prompt,
          LIMIT,
          () ->
              RoutedChat.probe(cluster.frontend().uri("/"), body).overlaps().values().stream()
                  .anyMatch(blocks -> blocks > 0));
      var before = hits();
      for (int again = 0; again < 3; again++) {
        ask(body);
      }
      var after = hits();
      long first = after.get(0) - before.get(0);
      long second = after.get(1) - before.get(1);
      assertThat(Math.max(first, second))
          .as("tokens that one engine had")
          .isEqualTo(3 * ((tokens - 1) / 32) * 32);
      assertThat(Math.min(first, second)).as("tokens that the other had").isZero();
    }
  }

  private static JsonNode ask(String body) throws Exception {
    var answer = cluster.frontend().post("/v1/chat/completions", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  /** Returns the engines' own counts of prompt tokens found in their caches. */
  private static List<Long> hits() throws Exception {
    return List.of(hits(engines.get(0)), hits(engines.get(1)));
  }

  private static long hits(URI engine) throws Exception {
    try (var client = HttpClient.newHttpClient()) {
      var metrics =
          client.send(
              HttpRequest.newBuilder(engine.resolve("/metrics")).timeout(LIMIT).build(),
              HttpResponse.BodyHandlers.ofString());
      var count =
          Pattern.compile("(?m)^vllm:prefix_cache_hits_total\\{[^}]*} ([0-9.e+]+)$")
              .matcher(metrics.body());
      assertThat(count.find()).isTrue();
      return Math.round(Double.parseDouble(count.group(1)));
    }
  }

  private static List<String> bodies() {
    return IntStream.range(0, STREAMS)
        .mapToObj(
            i ->
                ChatClient.body(Cluster.MODEL, "Tell the story of number " + i, LONG_TOKENS, true)
                    .replaceFirst("\\{", "{\"ignore_eos\":true,"))
        .toList();
  }

  @Test
  @Order(3)
  void textsGoOnUnchangedWhenAnEngineIsKilled() throws Exception {
    List<String> unbroken;
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, bodies())) {
      unbroken = crowd.unbroken().stream().map(Crowd.Outcome::text).toList();
    }
    assertThat(new HashSet<>(unbroken)).hasSizeGreaterThan(STREAMS / 2);
    var pid = Long.parseLong(System.getProperty("dynamo.it.vllm.pids", "").split(",", 2)[1]);
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, bodies())) {
      crowd.awaitFlowing();
      kill(ProcessHandle.of(pid).orElseThrow());
      assertThat(crowd.unbroken().stream().map(Crowd.Outcome::text).toList()).isEqualTo(unbroken);
    }
  }

  private static void kill(ProcessHandle server) {
    server.descendants().forEach(ProcessHandle::destroyForcibly);
    server.destroyForcibly();
  }
}
