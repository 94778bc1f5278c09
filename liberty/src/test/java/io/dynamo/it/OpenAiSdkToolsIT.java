package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.ObjectMappers;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ToolChoice;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.service.AiServices;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tool calls and thoughts as the three SDKs and frameworks above them read them. The engine repeats
 * its prompt: one that holds a call and a thought is answered with them.
 */
class OpenAiSdkToolsIT {
  private static final String PROMPT =
      "<think>I must look</think>Well <tool_call>\n"
          + "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
  private static final String TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"parameters\":"
          + "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}}}}]";

  @SuppressWarnings("NullAway.Init") // before all tests
  private static ServerProcess server;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    server =
        ServerProcess.Plan.named("sdk-tools")
            .with("DYNAMO_WORKER_ENGINE", "echo")
            .with("DYN_TOOL_CALL_PARSER", "hermes")
            .with("DYN_REASONING_PARSER", "basic")
            .start();
    server.awaitReady();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String base() {
    return "http://127.0.0.1:" + server.port();
  }

  @Test
  void pythonReadsThem() throws Exception {
    SdkScript.python("openai_sdk_tools.py").run(folder, base(), PROMPT, TOOLS);
  }

  @Test
  void nodeReadsThem() throws Exception {
    SdkScript.node("openai-sdk-tools.mjs").run(folder, base(), PROMPT, TOOLS);
  }

  @Test
  void pythonsFrameworksCallTools() throws Exception {
    SdkScript.python("frameworks_tools.py").run(folder, base(), PROMPT);
  }

  /** An assistant of LangChain4j. */
  interface Assistant {
    String answer(String question);
  }

  /** Its tool. */
  static final class Weather {
    final List<String> asked = new ArrayList<>();

    @Tool(name = "get_weather", value = "The weather in a city")
    public String of(@P(name = "city", value = "its name") String city) {
      asked.add(city);
      return "Sunny in " + city;
    }
  }

  @Test
  void langChain4jCallsTools() {
    var model =
        OpenAiChatModel.builder()
            .baseUrl(base() + "/v1")
            .apiKey("none")
            .modelName(Cluster.MODEL)
            .maxTokens(400)
            .maxRetries(0)
            .customParameters(Map.of("ignore_eos", true))
            .build();
    var weather = new Weather();

    var answer =
        AiServices.builder(Assistant.class)
            .chatModel(model)
            .tools(weather)
            .chatRequestTransformer(OpenAiSdkToolsIT::callOnce)
            .build()
            .answer(PROMPT);

    assertThat(weather.asked).containsExactly("Paris");
    assertThat(answer).contains("Sunny in Paris");
  }

  /** The engine repeats the call with its prompt: after a result no more calls are wanted. */
  private static ChatRequest callOnce(ChatRequest request) {
    boolean called =
        request.messages().stream().anyMatch(ToolExecutionResultMessage.class::isInstance);
    return called ? request.toBuilder().toolChoice(ToolChoice.NONE).build() : request;
  }

  @Test
  void javaReadsThem() {
    var schema =
        FunctionParameters.builder()
            .putAdditionalProperty("type", JsonValue.from("object"))
            .putAdditionalProperty(
                "properties", JsonValue.from(Map.of("city", Map.of("type", "string"))))
            .build();
    var params =
        ChatCompletionCreateParams.builder()
            .model(Cluster.MODEL)
            .maxCompletionTokens(400)
            .addUserMessage(PROMPT)
            .addFunctionTool(
                FunctionDefinition.builder().name("get_weather").parameters(schema).build())
            .putAdditionalBodyProperty("ignore_eos", JsonValue.from(true))
            .build();
    var openai =
        OpenAIOkHttpClient.builder().baseUrl(base() + "/v1").apiKey("none").maxRetries(0).build();
    try {
      var choice = openai.chat().completions().create(params).choices().getFirst();

      assertThat(choice.finishReason()).isEqualTo(ChatCompletion.Choice.FinishReason.TOOL_CALLS);
      var call = choice.message().toolCalls().orElseThrow().getFirst().asFunction().function();
      assertThat(call.name()).isEqualTo("get_weather");
      assertThat(call.arguments().replace(" ", "")).isEqualTo("{\"city\":\"Paris\"}");
      JsonNode message = ObjectMappers.jsonMapper().valueToTree(choice.message());
      assertThat(message.get("reasoning_content").asText()).isEqualTo("I must look");

      var parts = ChatCompletionAccumulator.create();
      try (var stream = openai.chat().completions().createStreaming(params)) {
        stream.stream().forEach(parts::accumulate);
      }
      var streamed = parts.chatCompletion().choices().getFirst();
      assertThat(streamed.finishReason()).isEqualTo(choice.finishReason());
      var same = streamed.message().toolCalls().orElseThrow().getFirst().asFunction().function();
      assertThat(same.name()).isEqualTo("get_weather");
      assertThat(same.arguments()).isEqualTo(call.arguments());
    } finally {
      openai.close();
    }
  }
}
