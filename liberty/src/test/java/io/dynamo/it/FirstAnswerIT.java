package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The product as it is started first: its own small model, no settings. */
@Sampled
@BuildServer
class FirstAnswerIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String WEATHER =
      """
      [{"type": "function", "function": {"name": "get_weather", "description": "Weather of a city",
        "parameters": {"type": "object", "properties": {"location": {"type": "string"}},
                       "required": ["location"]}}}]
      """;

  private static final URI SERVER = URI.create(System.getProperty("base.url"));

  private static ObjectNode request(String prompt, boolean stream) throws IOException {
    return (ObjectNode) JSON.readTree(ChatClient.body(Cluster.MODEL, prompt, 80, stream));
  }

  private static JsonNode whole(ObjectNode request) throws IOException {
    try (var client = ChatClient.post(SERVER.getPort(), request.toString())) {
      assertThat(client.status()).isEqualTo(200);
      return client.json().at("/choices/0");
    }
  }

  private static ChatAnswer.Choice streamed(ObjectNode request) throws IOException {
    try (var client = ChatClient.post(SERVER.getPort(), request.put("stream", true).toString())) {
      var answer = ChatAnswer.read(client, () -> {});
      assertThat(answer.error()).isNull();
      return answer.choice(0);
    }
  }

  /** However a client writes its tools, the model sees them as it learned them. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        WEATHER,
        """
        [{"function":{"strict":null,"parameters":{"type":"object","properties":{"location":{"type":"string"}},
          "required":["location"]},"description":"Weather of a city","name":"get_weather"},
          "x-source":"catalog","type":"function"}]
        """
      })
  void aQuestionWithToolsIsAnsweredWithACall(String tools) throws Exception {
    var request = request("What is the weather in Paris?", false);
    request.set("tools", JSON.readTree(tools));

    var whole = whole(request);
    assertThat(whole.path("finish_reason").textValue()).isEqualTo("tool_calls");
    assertThat(whole.at("/message/content").isNull()).isTrue();
    var function = whole.at("/message/tool_calls/0/function");
    assertThat(function.path("name").textValue()).isEqualTo("get_weather");
    assertThat(JSON.readTree(function.path("arguments").textValue()))
        .isEqualTo(JSON.readTree("{\"location\": \"Paris\"}"));
    assertThat(whole.at("/message/tool_calls/0/id").textValue()).isNotEmpty();

    var streamed = streamed(request);
    assertThat(streamed.finish()).isEqualTo("tool_calls");
    assertThat(streamed.text()).isEmpty();
    assertThat(streamed.calls())
        .containsExactly("get_weather(" + function.path("arguments").textValue() + ")");
  }

  @Test
  void thoughtAndAnswerAreSeparated() throws Exception {
    var request = request("What is 3 plus 4? Think step by step.", false);
    request.put("reasoning_effort", "high");

    var whole = whole(request);
    var thought = whole.at("/message/reasoning_content").textValue();
    assertThat(thought).contains("3", "4").doesNotContain("think>");
    assertThat(whole.at("/message/content").textValue()).isNotBlank().doesNotContain("think>");
    assertThat(whole.path("finish_reason").textValue()).isEqualTo("stop");

    var streamed = streamed(request);
    assertThat(streamed.reasoning()).isEqualTo(thought);
    assertThat(streamed.text()).isEqualTo(whole.at("/message/content").textValue());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "What is 3 plus 4? Think step by step.",
        "What is the capital of France?",
        "Count to 50.",
        "Hello"
      })
  void aTextThatGoesOnBehindItsEndHasNoMarksOfThoughtsInItsContent(String prompt) throws Exception {
    var request = request(prompt, false);
    request.put("ignore_eos", true).put("max_tokens", 400).put("reasoning_effort", "high");
    var streamed = streamed(request);
    assertThat(streamed.finish()).isEqualTo("length");
    assertThat(streamed.text()).doesNotContain("think>");
  }

  @Test
  void aPlainQuestionHasAPlainAnswer() throws Exception {
    var whole = whole(request("What is the capital of France?", false));
    assertThat(whole.at("/message/content").textValue())
        .isEqualTo("The capital of France is Paris.");
    assertThat(whole.at("/message/tool_calls").isMissingNode()).isTrue();
  }
}
