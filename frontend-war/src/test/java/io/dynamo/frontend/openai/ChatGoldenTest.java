package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares chat completions with answers captured from Dynamo, byte for byte; the scripted worker
 * repeats the captured tokens.
 */
class ChatGoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    assertThat(frontend.admission.admitted()).isZero();
    frontend.close();
  }

  record Case(String name, JsonNode request, JsonNode response) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() throws IOException {
    try (var in = ChatGoldenTest.class.getResourceAsStream("/golden/chat.json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(it -> new Case(it.get("name").asText(), it.get("request"), it.get("response")))
          .filter(it -> it.response().get("status").intValue() == 200);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isAnsweredAsDynamoAnswersIt(Case captured) throws IOException {
    frontend.tinyTokens = true;
    var answers = answers(captured);
    var head = answers.getFirst();
    frontend.createdSeconds = head.get("created").asLong();
    boolean streams = captured.response().has("sse");
    frontend.scripts = scripts(answers, streams ? "delta" : "message");
    var answer =
        frontend.post(
            JSON.writeValueAsBytes(captured.request().get("body")),
            Map.of("x-dynamo-request-id", head.get("id").asText().substring("chatcmpl-".length())));
    assertThat(answer.text())
        .isEqualTo(
            streams
                ? captured.response().get("sse").textValue()
                : JSON.writeValueAsString(captured.response().get("json")));
  }

  private static List<JsonNode> answers(Case captured) throws IOException {
    if (!captured.response().has("sse")) {
      return List.of(captured.response().get("json"));
    }
    var answers = new ArrayList<JsonNode>();
    for (var frame : captured.response().get("sse").textValue().split("\n\n", 0)) {
      if (!frame.equals("data: [DONE]")) {
        answers.add(JSON.readTree(frame.substring("data: ".length())));
      }
    }
    return answers;
  }

  /** The items of workers that make {@code answers}, by choice. */
  private List<List<EngineOutput>> scripts(List<JsonNode> answers, String part) {
    var scripts = new ArrayList<List<EngineOutput>>();
    int completion = 0;
    for (var answer : answers) {
      if (answer.has("usage")) {
        frontend.promptTokens = answer.get("usage").get("prompt_tokens").asInt();
        completion = answer.get("usage").get("completion_tokens").asInt();
      }
      for (var choice : answer.get("choices")) {
        while (scripts.size() <= choice.get("index").asInt()) {
          scripts.add(new ArrayList<>());
        }
      }
    }
    for (var answer : answers) {
      for (var choice : answer.get("choices")) {
        var items = scripts.get(choice.get("index").asInt());
        boolean last = !choice.get("finish_reason").isNull();
        int rest = completion / scripts.size() - items.size();
        items.add(item(choice, choice.get(part).path("content").asText(""), last, rest));
      }
    }
    return scripts;
  }

  private static EngineOutput item(JsonNode choice, String text, boolean last, int rest) {
    var given = choice.get("logprobs").path("content");
    FinishReason finish =
        !last
            ? null
            : choice.get("finish_reason").asText().equals("length")
                ? FinishReason.LENGTH
                : FinishReason.EOS;
    return new EngineOutput(
        given.isArray() ? ids(given) : new int[last ? Math.max(1, rest) : 1],
        text.equals("null") ? "" : text,
        finish,
        null,
        0,
        null,
        logprobs(given),
        null,
        PassedOn.NONE);
  }

  private static int[] ids(JsonNode entries) {
    return entries.valueStream().mapToInt(it -> it.get("token_id").intValue()).toArray();
  }

  private static @Nullable Logprobs logprobs(JsonNode entries) {
    if (!entries.isArray()) {
      return null;
    }
    var top = new ArrayList<List<Logprobs.Top>>();
    for (var entry : entries) {
      var alternatives = new ArrayList<Logprobs.Top>();
      for (var each : entry.get("top_logprobs")) {
        int id =
            each.get("token").equals(entry.get("token"))
                ? entry.get("token_id").intValue()
                : CodePoints.tokenOfTiny(each.get("token").asText());
        alternatives.add(new Logprobs.Top(1, id, null, each.get("logprob").asDouble(), null));
      }
      top.add(alternatives);
    }
    return new Logprobs(
        null, entries.valueStream().mapToDouble(it -> it.get("logprob").asDouble()).toArray(), top);
  }
}
