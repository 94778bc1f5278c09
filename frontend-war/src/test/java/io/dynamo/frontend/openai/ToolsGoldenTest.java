package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests with tools and thoughts, and what Dynamo 1.6.1 answered to them. */
final class ToolsGoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, Map<String, @Nullable Object>> CARDS =
      Map.of(
          "hermes", Map.of("tool_call_parser", "hermes"),
          "qwen3", Map.of("tool_call_parser", "hermes", "reasoning_parser", "qwen3"),
          "r1", Map.of("reasoning_parser", "deepseek_r1"),
          "coder", Map.of("tool_call_parser", "qwen3_coder"),
          "gptoss", Map.of("tool_call_parser", "harmony", "reasoning_parser", "gpt_oss"),
          "llama3", Map.of("tool_call_parser", "llama3_json"),
          "dsv31", Map.of("tool_call_parser", "deepseek_v3_1", "reasoning_parser", "deepseek_v3_1"),
          "mistral", Map.of("tool_call_parser", "mistral", "reasoning_parser", "mistral"));

  /**
   * Where the original loses text or calls, or lacked a model's tokens; pinned by the parsers'
   * tests.
   */
  private static final Set<String> BETTER =
      Set.of(
          "hermes_bad_json",
          "hermes_truncated_length",
          "coder_truncated",
          "mistral_new",
          "gptoss_final",
          "gptoss_tool");

  private final FrontendFixture frontend = new FrontendFixture();

  /** A request and its answer. */
  record Transcript(String name, JsonNode json) {
    ObjectNode body() {
      var body = ((ObjectNode) json.path("request").path("body")).deepCopy();
      return body.put("model", "script");
    }

    String model() {
      return json.path("request").path("body").path("model").asText();
    }

    JsonNode response() {
      return json.path("response");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  @AfterEach
  void close() {
    frontend.close();
  }

  private static Stream<Transcript> transcripts() {
    return Stream.of("tools", "reasoning", "parsers").flatMap(ToolsGoldenTest::transcripts);
  }

  private static Stream<Transcript> transcripts(String group) {
    try (var in = ToolsGoldenTest.class.getResourceAsStream("/golden/" + group + ".json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(it -> new Transcript(it.path("name").asText(), it))
          .filter(it -> it.json().path("request").path("path").asText().endsWith("completions"))
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Stream<Transcript> answers() {
    return transcripts()
        .filter(it -> it.response().path("status").asInt() == 200)
        .filter(it -> it.body().toString().contains("@@{\\\"items"))
        .filter(it -> !BETTER.contains(it.name().replaceAll("_(unary|stream)$", "")));
  }

  static Stream<Transcript> refusals() {
    return transcripts()
        .filter(it -> it.name().startsWith("v_"))
        .filter(it -> it.json().path("request").path("body").isObject())
        .filter(it -> it.response().path("status").asInt() == 400);
  }

  @ParameterizedTest
  @MethodSource("answers")
  void answersAreAsCaptured(Transcript transcript) throws IOException {
    var body = transcript.body();
    frontend.runtimeConfig = CARDS.getOrDefault(transcript.model(), Map.of());
    frontend.scripts = scripts(body);
    var answer = frontend.post(body.toString());
    assertThat(answer.status).isEqualTo(200);

    var expected = transcript.response();
    if (expected.has("json")) {
      var own = JSON.readTree(answer.text());
      assertThat(withoutIds(own.path("choices")))
          .isEqualTo(withoutIds(expected.path("json").path("choices")));
      assertThat(own.path("usage").has("completion_tokens_details"))
          .isEqualTo(expected.path("json").path("usage").has("completion_tokens_details"));
    } else {
      assertThat(fold(answer.text())).isEqualTo(fold(expected.path("sse").asText()));
    }
    assertThat(frontend.asked).isNotNull();
    var forwarded = transcript.json().path("worker_received").path(0).path("sampling_options");
    var guided = Objects.requireNonNull(frontend.asked).sampling().guided();
    JsonNode asked = JSON.valueToTree(guided == null ? null : guided.json());
    assertThat(asked)
        .isEqualTo(
            forwarded.path("guided_decoding").path("json").isMissingNode()
                ? JSON.nullNode()
                : forwarded.path("guided_decoding").path("json"));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void refusalsAreAsCaptured(Transcript transcript) throws IOException {
    var answer = frontend.post(transcript.body().toString());
    assertThat(answer.status).isEqualTo(400);
    var text = transcript.response().path("json").path("message").asText();
    if (text.startsWith("Validation: ")) {
      assertThat(JSON.readTree(answer.text()).path("message").asText()).isEqualTo(text);
    }
  }

  /** The worker's items for each choice. A token here is a code point. */
  private static List<List<EngineOutput>> scripts(JsonNode body) throws IOException {
    var script = body.path("messages").path(body.path("messages").size() - 1).path("content");
    var text = script.asText();
    var items = JSON.readTree(text.substring(2, text.length() - 2)).path("items");
    var scripts = new ArrayList<List<EngineOutput>>();
    for (int choice = 0; choice < body.path("n").asInt(1); choice++) {
      var own = new ArrayList<EngineOutput>();
      for (var item : items) {
        if (item.path("index").asInt(0) == choice) {
          var finish = item.path("finish_reason").asText("");
          own.add(
              new EngineOutput(
                  item.path("t").asText().codePoints().toArray(),
                  null,
                  finish.isEmpty() ? null : FinishReason.valueOf(finish.toUpperCase(Locale.ROOT)),
                  null,
                  0,
                  null));
        }
      }
      scripts.add(own);
    }
    return scripts;
  }

  private static JsonNode withoutIds(JsonNode choices) {
    for (var choice : choices) {
      ((ObjectNode) choice).remove("logprobs");
      for (var call : choice.path("message").path("tool_calls")) {
        assertThat(call.path("id").asText()).startsWith("call-");
        ((ObjectNode) call).remove("id");
      }
    }
    return choices;
  }

  /** Joins a stream's tool calls by choice, as a client does. */
  private static List<String> fold(String sse) throws IOException {
    var folded = new ArrayList<Choice>();
    for (var frame : sse.split("\n\n", -1)) {
      if (!frame.startsWith("data: {")) {
        continue;
      }
      for (var choice : JSON.readTree(frame.substring("data: ".length())).path("choices")) {
        while (folded.size() <= choice.path("index").asInt()) {
          folded.add(new Choice());
        }
        folded.get(choice.path("index").asInt()).add(choice);
      }
    }
    return folded.stream().map(Choice::toString).toList();
  }

  /** One choice of a stream. */
  private static final class Choice {
    private final StringBuilder content = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final List<String> names = new ArrayList<>();
    private final List<StringBuilder> arguments = new ArrayList<>();
    private String finish = "";
    private int chunks;

    void add(JsonNode choice) {
      var delta = choice.path("delta");
      assertThat(delta.has("role")).isEqualTo(chunks++ == 0);
      content.append(delta.path("content").asText(""));
      reasoning.append(delta.path("reasoning_content").asText(""));
      if (delta.has("tool_calls")) {
        assertThat(delta.has("content")).isTrue();
      }
      for (var call : delta.path("tool_calls")) {
        int index = call.path("index").asInt();
        if (call.has("id")) {
          assertThat(index).isEqualTo(names.size());
          assertThat(call.path("id").asText()).startsWith("call-");
          assertThat(call.path("type").asText()).isEqualTo("function");
          names.add(call.path("function").path("name").asText());
          arguments.add(new StringBuilder());
        }
        arguments.get(index).append(call.path("function").path("arguments").asText());
      }
      finish = choice.path("finish_reason").asText("");
    }

    @Override
    public String toString() {
      return "%s|%s|%s%s|%s".formatted(content, reasoning, names, arguments, finish);
    }
  }
}
