package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two servers whose workers ask another server by text: one asks llama.cpp's, which it starts, the
 * other our own frontend before the engine that computes. All serve the same model.
 */
@ManyServers
@Sampled
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class OpenAiEngineIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path GOLDEN = Path.of("../frontend-war/src/test/resources/tiny/golden.json");
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int ENDLESS = 3800;

  private static LlamaServer llamaCpp;
  private static ServerProcess ours;
  private static ServerProcess beforeLlamaCpp;
  private static ServerProcess beforeOurs;

  /** The server that the engine of the worker under test asks. */
  enum Upstream {
    LLAMA_CPP {
      @Override
      ServerProcess asked() {
        return beforeLlamaCpp;
      }

      @Override
      int running() throws IOException, InterruptedException {
        return llamaCpp.busySlots();
      }
    },
    OUR_FRONTEND {
      @Override
      ServerProcess asked() {
        return beforeOurs;
      }

      @Override
      int running() throws IOException, InterruptedException {
        return ServerFacts.worker(ours).running();
      }
    };

    /** Returns the server before it. */
    abstract ServerProcess asked();

    /** Returns how many generations it computes now. */
    abstract int running() throws IOException, InterruptedException;

    /** Sends a chat and returns its first choice. */
    JsonNode choice(String body) throws IOException, InterruptedException {
      var answer = asked().post("/v1/chat/completions", body);
      assertThat(answer.statusCode()).as("%s: %s", this, answer.body()).isEqualTo(200);
      return JSON.readTree(answer.body()).at("/choices/0");
    }
  }

  @BeforeAll
  static void serve() throws Exception {
    llamaCpp = LlamaServer.atFreePort(4);
    ours =
        ServerProcess.Plan.named("openai-ours")
            .with("DYNAMO_WORKER_ENGINE", "llama")
            .with("DYNAMO_WORKER_RANKS", "1")
            .start();
    beforeLlamaCpp =
        asking("openai-llama-cpp", llamaCpp.address())
            .with("DYNAMO_WORKER_PROCESS_COMMAND", llamaCpp.command())
            .start();
    ours.awaitReady();
    beforeOurs = asking("openai-frontend", "http://127.0.0.1:" + ours.port()).start();
    beforeLlamaCpp.awaitReady();
    beforeOurs.awaitReady();
  }

  private static ServerProcess.Plan asking(String name, String address) {
    return ServerProcess.Plan.named(name)
        .with("DYNAMO_WORKER_ENGINE", "openai")
        .with("DYNAMO_WORKER_RANKS", "1")
        .with("DYNAMO_WORKER_TOOL_CALL_PARSER", "hermes")
        .with("DYNAMO_WORKER_REMOTE_URL", address);
  }

  @AfterAll
  static void stop() {
    for (var server : new ServerProcess[] {beforeLlamaCpp, beforeOurs, ours}) {
      if (server != null) {
        server.close();
      }
    }
  }

  private static ObjectNode body(JsonNode conversation, int tokens, boolean stream) {
    var body = JSON.createObjectNode();
    body.put("model", Cluster.MODEL).put("stream", stream);
    body.put("temperature", 0).put("max_tokens", tokens);
    for (var member : new String[] {"messages", "tools"}) {
      if (conversation.has(member)) {
        body.set(member, conversation.get(member));
      }
    }
    return body;
  }

  private static JsonNode golden(String name) throws IOException {
    for (var golden : JSON.readTree(GOLDEN.toFile())) {
      if (golden.get("name").asText().equals(name)) {
        return golden;
      }
    }
    throw new AssertionError("no case " + name + " in " + GOLDEN);
  }

  private static String endless() {
    return ChatClient.body(Cluster.MODEL, "Tell the story of number 7", ENDLESS, true)
        .replaceFirst("\\{", "{\"ignore_eos\":true,");
  }

  @ParameterizedTest
  @EnumSource
  @Order(1)
  void chatsAreAnsweredAsByPyTorchStreamedAndWhole(Upstream upstream) throws Exception {
    for (var name : new String[] {"capital", "count", "say-times", "json"}) {
      var golden = golden(name);
      var text = golden.get("output_text").asText().replace("<|im_end|>", "");
      int tokens = golden.get("output_ids").size();
      var whole = upstream.choice(body(golden.get("request"), tokens, false).toString());
      assertThat(whole.at("/message/content").asText()).as(name).isEqualTo(text);
      assertThat(whole.get("finish_reason").asText()).as(name).isEqualTo("stop");
      try (var client =
          upstream.asked().chat(body(golden.get("request"), tokens, true).toString())) {
        assertThat(client.text()).as("%s, streamed", name).isEqualTo(text);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  @Order(1)
  void toolsAreCalled(Upstream upstream) throws Exception {
    var golden = golden("tool-call");
    var choice = upstream.choice(body(golden.get("request"), 64, false).toString());
    var call = choice.at("/message/tool_calls/0/function");
    assertThat(call.path("name").asText()).as("%s", choice).isEqualTo("get_weather");
    assertThat(JSON.readTree(call.path("arguments").asText()).path("location").asText())
        .isEqualTo("Paris");
    assertThat(choice.get("finish_reason").asText()).isEqualTo("tool_calls");
  }

  @ParameterizedTest
  @EnumSource
  @Order(1)
  void aStopEndsTheTextAndTheGeneration(Upstream upstream) throws Exception {
    var asked = body(golden("count-100").get("request"), ENDLESS, false);
    asked.putArray("stop").add(" 12 13");

    var choice = upstream.choice(asked.toString());

    assertThat(choice.at("/message/content").asText()).isEqualTo("1 2 3 4 5 6 7 8 9 10 11");
    assertThat(choice.get("finish_reason").asText()).isEqualTo("stop");
    Polling.until("nothing is generated", LIMIT, () -> upstream.running() == 0);
  }

  @ParameterizedTest
  @EnumSource
  @Order(1)
  void aClientThatLeavesEndsTheGeneration(Upstream upstream) throws Exception {
    try (var client = upstream.asked().chat(endless())) {
      awaitText(client);
      Polling.until("it is generated", LIMIT, () -> upstream.running() == 1);
      client.reset();
    }
    Polling.until("nothing is generated", LIMIT, () -> upstream.running() == 0);
    Polling.until(
        "the worker is free", LIMIT, () -> ServerFacts.worker(upstream.asked()).running() == 0);
  }

  private static void awaitText(ChatClient client) throws IOException {
    var event = client.next();
    while (event != null && event.text().isEmpty()) {
      event = client.next();
    }
    assertThat(event).as("the stream has text").isNotNull();
  }

  @ParameterizedTest
  @EnumSource
  @Order(1)
  void optionsThatNeedTokenIdsAreRefusedByName(Upstream upstream) throws Exception {
    var asked = body(golden("capital").get("request"), 8, false);
    asked.put("logprobs", true);
    var answer = upstream.asked().post("/v1/chat/completions", asked.toString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    assertThat(answer.body()).contains("logprobs");
  }

  @Test
  @Order(2)
  void aStreamOfAKilledServerEndsInATypedErrorAndTheServerIsStartedAgain() throws Exception {
    var first = llamaCpp.process(beforeLlamaCpp);
    try (var client = beforeLlamaCpp.chat(endless())) {
      awaitText(client);
      first.destroyForcibly();
      String last = "";
      for (var event = client.next(); event != null; event = client.next()) {
        if (event.data() != null && !event.isDone()) {
          last = event.data();
        }
      }
      assertThat(last).contains("\"error\"", "service_unavailable");
    }
    Polling.until(
        "it answers again",
        LIMIT,
        () ->
            beforeLlamaCpp
                    .post(
                        "/v1/chat/completions",
                        body(golden("capital").get("request"), 16, false).toString())
                    .statusCode()
                == 200);
    assertThat(llamaCpp.process(beforeLlamaCpp).pid()).isNotEqualTo(first.pid());
  }

  @Test
  @Order(3)
  void aServerThatStopsEndsTheOneThatItStarted() {
    var started = llamaCpp.process(beforeLlamaCpp);
    beforeLlamaCpp.terminate();
    beforeLlamaCpp.awaitExit();
    Polling.until("it ended", LIMIT, () -> !started.isAlive());
  }
}
