package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.openai.PlayedScript.Capture;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests of the Responses API, and what Dynamo 1.6.1 answered to them. */
class ResponsesGoldenTest {
  private static final Map<String, Map<String, @Nullable Object>> CARDS =
      Map.of(
          "hermes", Map.of("tool_call_parser", "hermes"),
          "r1", Map.of("reasoning_parser", "deepseek_r1"));

  /**
   * Fields that Dynamo drops in silence and that are refused by name here, and a failed response
   * with a usage, which only some of Dynamo's have.
   */
  private static final Set<String> BETTER =
      Set.of("conversation", "stop", "top_logprobs", "unknown_field", "finish_error_stream");

  private static final List<String> RANDOM =
      List.of(
          "id",
          "item_id",
          "call_id",
          "created_at",
          "completed_at",
          "model",
          "sequence_number",
          "nvext",
          "store", // true in a capture, though Dynamo stores nothing; we say what is so
          "user");

  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private static Stream<Capture> captures() {
    return PlayedScript.captures("responses")
        .filter(it -> it.request().path("path").asText().equals("/v1/responses"))
        .filter(it -> !BETTER.contains(it.name()));
  }

  static Stream<Capture> answers() {
    return captures().filter(it -> it.status() == 200);
  }

  static Stream<Capture> refusals() {
    return captures().filter(it -> it.status() != 200);
  }

  private FrontendFixture.Recorded ask(Capture capture) throws IOException {
    var body = ((ObjectNode) capture.request().get("body")).deepCopy();
    if (!Set.of("nope", "").contains(body.path("model").asText())) {
      frontend.runtimeConfig = CARDS.getOrDefault(body.path("model").asText(), Map.of());
      body.put("model", "script");
    }
    frontend.api = TextService.RESPONSES;
    return frontend.post(PlayedScript.JSON.writeValueAsBytes(body), Map.of());
  }

  private static String prompt(Capture capture) {
    var input = capture.request().path("body").path("input");
    return input.isTextual()
        ? input.asText()
        : input.toString().replace("\\\"", "\"").replace("\\\\", "\\");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("answers")
  void isAnsweredAsDynamoAnswersIt(Capture capture) throws IOException {
    var texts = new ArrayList<String>();
    JsonNode whole;
    if (capture.streams()) {
      var events = capture.events();
      for (var event : events) {
        if (event.path("type").asText().equals("response.output_text.delta")) {
          texts.add(event.path("delta").asText());
        }
      }
      whole = events.getLast().get("response");
    } else {
      whole = capture.response().get("json");
      texts.add(whole.at("/output/0/content/0/text").asText());
    }
    boolean fails = whole.path("status").asText().equals("failed");
    frontend.promptTokens = whole.at("/usage/input_tokens").asInt(5);
    frontend.items =
        PlayedScript.items(
            prompt(capture),
            texts,
            whole.at("/usage/output_tokens").asInt(texts.size()),
            fails
                ? null
                : whole.path("status").asText().equals("incomplete")
                    ? FinishReason.LENGTH
                    : FinishReason.EOS);
    if (fails) {
      frontend.failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);
    }

    var answer = ask(capture);

    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    if (capture.streams()) {
      assertThat(answer.text()).doesNotContain("[DONE]");
      var events = PlayedScript.events(answer.text());
      for (int i = 0; i < events.size(); i++) {
        assertThat(events.get(i).path("sequence_number").asInt(-1)).isEqualTo(i);
      }
      var ours = normal(events);
      var theirs = normal(capture.events());
      if (capture.name().equals("tool_stream")) { // Dynamo keeps all items open until the end
        assertThat(ours).containsExactlyInAnyOrderElementsOf(theirs);
      } else {
        assertThat(ours).isEqualTo(theirs);
      }
    } else {
      var json = PlayedScript.JSON.readTree(answer.text());
      var keys = new ArrayList<String>();
      var theirs = new ArrayList<String>();
      json.fieldNames().forEachRemaining(keys::add);
      whole.fieldNames().forEachRemaining(theirs::add);
      theirs.remove("nvext"); // this API tells nothing of it
      assertThat(keys).containsAll(theirs);
      assertThat(normal(json)).isEqualTo(normal(whole));
    }
  }

  private static List<JsonNode> normal(List<JsonNode> events) {
    return events.stream().map(ResponsesGoldenTest::normal).toList();
  }

  /** Without what is random, what is null, and how tokens spread over a script's items. */
  private static JsonNode normal(JsonNode node) {
    if (node instanceof ArrayNode array) {
      var all = new ArrayList<JsonNode>();
      array.forEach(each -> all.add(normal(each)));
      return PlayedScript.JSON.valueToTree(all);
    }
    if (!(node instanceof ObjectNode)) {
      return node.isDouble() ? PlayedScript.JSON.valueToTree((float) node.asDouble()) : node;
    }
    var json = PlayedScript.JSON.createObjectNode();
    for (var field : node.properties()) {
      if (!field.getValue().isNull()
          && !RANDOM.contains(field.getKey())
          && !field.getKey().equals("output_tokens_details")) {
        json.set(field.getKey(), normal(field.getValue()));
      }
    }
    if (node.path("object").asText().equals("response")) { // calls before texts at Dynamo
      var output = new ArrayList<JsonNode>();
      json.withArray("output").forEach(output::add);
      output.sort(Comparator.comparing(item -> item.path("type").asText()));
      json.set("output", PlayedScript.JSON.valueToTree(output));
    }
    return json;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refusals")
  void isRefusedAsDynamoRefusesIt(Capture capture) throws IOException {
    if (capture.name().equals("error_unary")) {
      frontend.failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);
    }

    var answer = ask(capture);

    assertThat(answer.status).as(answer.text()).isEqualTo(capture.status());
    if (capture.status() == 501) {
      assertThat(PlayedScript.JSON.readTree(answer.text()).get("message"))
          .isEqualTo(capture.response().get("json").get("message"));
    }
  }
}
