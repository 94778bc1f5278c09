package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.RateLimitedException;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.openai.PlayedScript.Capture;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests of Anthropic's Messages API, and what Dynamo 1.6.1 answered to them. */
class MessagesGoldenTest {
  private static final Map<String, Map<String, @Nullable Object>> CARDS =
      Map.of(
          "hermes", Map.of("tool_call_parser", "hermes"),
          "r1", Map.of("reasoning_parser", "deepseek_r1"));

  /** Captures that differ by intent: thoughts that are switched off, a name of a model. */
  private static final Set<String> BETTER =
      Set.of("thinking_r1_disabled", "empty_model", "error_stream", "batches");

  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private static Stream<Capture> captures() {
    return PlayedScript.captures("messages")
        .filter(it -> it.request().path("path").asText().equals("/v1/messages"))
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
    frontend.api = TextService.MESSAGES;
    return frontend.post(PlayedScript.JSON.writeValueAsBytes(body), Map.of());
  }

  private static String lastText(Capture capture) {
    var messages = capture.request().path("body").path("messages");
    return messages
        .path(messages.size() - 1)
        .path("content")
        .toString()
        .replace("\\\"", "\"")
        .replace("\\\\", "\\");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("answers")
  void isAnsweredAsDynamoAnswersIt(Capture capture) throws IOException {
    var texts = new ArrayList<String>();
    JsonNode usage;
    JsonNode reason;
    if (capture.streams()) {
      var events = capture.events();
      for (var event : events) {
        if (event.at("/delta/text").isTextual()) {
          texts.add(event.at("/delta/text").asText());
        }
      }
      var end = events.get(events.size() - 2);
      usage = end.get("usage");
      reason = end.path("delta").path("stop_reason");
    } else {
      var json = capture.response().get("json");
      texts.add(json.at("/content/0/text").asText());
      usage = json.get("usage");
      reason = json.get("stop_reason");
    }
    if (reason.asText().equals("stop_sequence")) {
      texts.add("STOP");
    }
    boolean stops = reason.asText().equals("stop_sequence");
    frontend.promptTokens = usage.get("input_tokens").asInt();
    frontend.items =
        PlayedScript.items(
            lastText(capture),
            texts,
            usage.get("output_tokens").asInt(),
            reason.asText().equals("max_tokens") ? FinishReason.LENGTH : FinishReason.EOS);
    if (stops) { // found in what the ids say; an id is one character here
      frontend.items =
          texts.stream().map(text -> EngineOutput.ofTokens(text.codePoints().toArray())).toList();
    }

    var answer = ask(capture);

    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    if (capture.streams()) {
      assertThat(answer.text()).doesNotContain("[DONE]");
      assertThat(normal(PlayedScript.events(answer.text()), stops))
          .isEqualTo(normal(capture.events(), stops));
    } else {
      assertThat(normal(PlayedScript.JSON.readTree(answer.text()), stops))
          .isEqualTo(normal(capture.response().get("json"), stops));
    }
  }

  private static List<JsonNode> normal(List<JsonNode> events, boolean uncounted) {
    return events.stream().map(event -> normal(event, uncounted)).toList();
  }

  /** Without what is random and what this server words better. */
  private static JsonNode normal(JsonNode answer, boolean uncounted) {
    var json = (ObjectNode) answer.deepCopy();
    if (uncounted) {
      json.remove("usage");
    }
    for (var holder : List.of(json, json.path("message"), json.path("content_block"))) {
      if (holder instanceof ObjectNode object && object.has("id")) {
        assertThat(object.get("id").asText()).matches("(msg|toolu)_[0-9a-f]{32}");
        object.remove("id");
      }
    }
    json.remove("model");
    switch (json.path("type").asText()) {
      case "message_start" -> ((ObjectNode) json.get("message")).remove(List.of("model", "usage"));
      case "content_block_delta" -> json.remove("usage"); // not of this protocol
      case "message_delta" -> {
        var delta = (ObjectNode) json.get("delta");
        if (delta.path("stop_sequence").isNull()) {
          delta.remove("stop_sequence");
        }
      }
      default -> {}
    }
    if (json.get("content") instanceof ArrayNode content) {
      var blocks = new ArrayList<JsonNode>();
      content.forEach(blocks::add);
      blocks.forEach(block -> ((ObjectNode) block).remove("id"));
      blocks.sort(Comparator.comparing(block -> block.path("type").asText())); // the model's here
      json.replace("content", PlayedScript.JSON.valueToTree(blocks));
    }
    return json;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refusals")
  void isRefusedAsDynamoRefusesIt(Capture capture) throws IOException {
    frontend.failure = raised(capture.name());

    var answer = ask(capture);

    var expected = capture.response().get("json");
    assertThat(answer.status).as(answer.text()).isEqualTo(capture.status());
    var reply =
        PlayedScript.JSON.readTree(
            ErrorFormat.ANTHROPIC.body(Objects.requireNonNull(answer.error)));
    assertThat(reply.at("/error/type")).isEqualTo(expected.at("/error/type"));
    assertThat(reply.get("type")).isEqualTo(expected.get("type"));
    if (capture.status() == 400 && frontend.failure == null) {
      assertThat(reply.at("/error/message").asText())
          .startsWith(
              expected
                  .at("/error/message")
                  .asText()
                  .replaceFirst(" at line \\d+ column \\d+$", ""));
    }
  }

  private static @Nullable DynamoException raised(String name) {
    return switch (name) {
      case "error_400_unary" -> new InvalidRequestException("Bad Request");
      case "error_429_unary" -> new RateLimitedException("Too Many Requests");
      case "error_529_unary" -> new OverloadedException("full");
      case "error_unary" -> new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);
      default -> null;
    };
  }
}
