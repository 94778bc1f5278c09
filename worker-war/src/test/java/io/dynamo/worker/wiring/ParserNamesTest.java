package io.dynamo.worker.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.worker.EmbeddingSettings;
import io.dynamo.config.worker.EngineKind;
import io.dynamo.config.worker.LlamaCppSettings;
import io.dynamo.config.worker.MockSettings;
import io.dynamo.config.worker.ProcessSettings;
import io.dynamo.config.worker.RemoteSettings;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.model.ModelDirectory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ParserNamesTest {
  private static final String HERMES =
      "<tool_call>\n{\"name\": \"' + f.name + '\", \"arguments\": {{ f.arguments }}}</tool_call>";
  private static final Path SHIPPED =
      Path.of("../server-config/src/main/liberty/config/models/tiny");

  @TempDir Path directory;

  @BeforeEach
  void model() throws IOException {
    Files.writeString(directory.resolve("config.json"), "{}");
    Files.writeString(directory.resolve("tokenizer.json"), "{}");
    Files.writeString(directory.resolve("tokenizer_config.json"), "{}");
  }

  private static WorkerSettings settings(
      EngineKind engine, @Nullable String toolCalls, @Nullable String reasoning) {
    return new WorkerSettings(
        "backend",
        "generate",
        null,
        engine,
        Path.of("."),
        null,
        toolCalls,
        reasoning,
        1,
        16,
        64,
        4096,
        Duration.ZERO,
        Duration.ZERO,
        4,
        null,
        List.of(),
        null,
        1,
        Duration.ofSeconds(30),
        64,
        64,
        new EmbeddingSettings("embed", EmbeddingSettings.Pooling.LAST, true),
        new MockSettings(
            64, true, true, MockSettings.Preemption.FIFO, MockSettings.Timing.LINEAR, 1, 1, null),
        new LlamaCppSettings(
            List.of(URI.create("http://127.0.0.1:1")),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1)),
        new RemoteSettings(
            URI.create("http://127.0.0.1:1"),
            null,
            null,
            null,
            Duration.ofMillis(1),
            Duration.ofSeconds(1),
            null,
            null,
            null,
            null,
            null,
            null,
            true),
        new ProcessSettings(null, null, Duration.ofSeconds(1)));
  }

  private Map<String, String> shownBy(String template) throws IOException {
    Files.writeString(directory.resolve("chat_template.jinja"), template);
    return ParserNames.of(ModelDirectory.open(directory), settings(EngineKind.LLAMA, null, null));
  }

  @Test
  void theShippedModelHasBoth() {
    assertThat(ParserNames.of(ModelDirectory.open(SHIPPED), settings(EngineKind.LLAMA, null, null)))
        .isEqualTo(Map.of("tool_call_parser", "hermes", "reasoning_parser", "qwen3"));
  }

  @Test
  void aTemplateIsBelievedOnlyWhereItIsPlain() throws IOException {
    assertThat(shownBy("{{ messages }}")).isEmpty();
    assertThat(shownBy(HERMES)).isEqualTo(Map.of("tool_call_parser", "hermes"));
    assertThat(shownBy("<tool_call><function={{ f.name }}> {{ f.arguments }}")).isEmpty();
    assertThat(shownBy("<tool_call>{{ f.name }}<arg_key>{{ arguments }}")).isEmpty();
    assertThat(shownBy(HERMES + "[TOOL_CALLS]<minimax:tool_call><invoke name=\"")).isEmpty();
    assertThat(shownBy("<think>\n\n</think>")).isEqualTo(Map.of("reasoning_parser", "qwen3"));
  }

  @Test
  void aModelWithoutTemplateIsKnownByItsType() throws IOException {
    Files.writeString(directory.resolve("config.json"), "{\"model_type\": \"kimi_k3\"}");
    var model = ModelDirectory.open(directory);
    assertThat(ParserNames.of(model, settings(EngineKind.VLLM, null, null)))
        .isEqualTo(Map.of("tool_call_parser", "kimi_k3", "reasoning_parser", "kimi_k3"));
    assertThat(ParserNames.of(model, settings(EngineKind.VLLM, "none", "basic")))
        .isEqualTo(Map.of("reasoning_parser", "basic"));
    assertThat(ParserNames.of(model, settings(EngineKind.MOCK, null, null))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "deepseek_v32, deepseek_v3_2",
    "deepseek_v3_2, deepseek_v3_2",
    "deepseek_v4, deepseek_v4"
  })
  void aDeepSeekIsKnownByItsTypeOnlyWithoutTemplate(String type, String parser) throws IOException {
    Files.writeString(directory.resolve("config.json"), "{\"model_type\": \"%s\"}".formatted(type));
    assertThat(
            ParserNames.of(ModelDirectory.open(directory), settings(EngineKind.VLLM, null, null)))
        .isEqualTo(Map.of("tool_call_parser", parser, "reasoning_parser", parser));
    assertThat(shownBy("plain")).isEmpty();
  }

  @Test
  void aTemplateInsideTheTokenizersFileCountsToo() throws IOException {
    Files.writeString(
        directory.resolve("tokenizer_config.json"),
        "{\"chat_template\": \"<think>{{ thought }}</think>\"}");
    assertThat(
            ParserNames.of(ModelDirectory.open(directory), settings(EngineKind.LLAMA, null, null)))
        .isEqualTo(Map.of("reasoning_parser", "qwen3"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "qwen3_coder | <tool_call> <function={{ f.name }}> <parameter={{ name }}>",
        "glm47 | <tool_call>{{ f.name }}<arg_key>{{ k }}</arg_key><arg_value>{{ v }}</arg_value>",
        "mistral | [AVAILABLE_TOOLS]{{ tools }}[TOOL_CALLS]{{ calls }}",
        "deepseek_v3 | <｜tool▁call▁begin｜>function<｜tool▁sep｜>{{ name }} ```json ",
        "deepseek_v3_1 | <｜tool▁call▁begin｜>{{ name }}<｜tool▁sep｜>{{ arguments }}",
        "minimax_m2 | <minimax:tool_call> <invoke name=\"{{ name }}\">"
      })
  void familiesAreRecognisedByTheirOwnMarks(String parser, String template) throws IOException {
    assertThat(shownBy(template)).isEqualTo(Map.of("tool_call_parser", parser));
  }

  @Test
  void familiesWhoseMarksContainBarsAreRecognisedToo() throws IOException {
    assertThat(
            shownBy("<|eot_id|>{{ '{\"name\": ' }}\"parameters\": {{ arguments }}<|python_tag|>"))
        .isEqualTo(Map.of("tool_call_parser", "llama3_json"));
    assertThat(shownBy("<|tool_call_begin|>{{ id }}<|tool_call_argument_begin|>{{ arguments }}"))
        .isEqualTo(Map.of("tool_call_parser", "kimi_k2"));
    assertThat(
            shownBy(
                "<|start|>assistant<|channel|>analysis<|message|>to=functions.{{ name }}<|call|>"))
        .isEqualTo(Map.of("tool_call_parser", "harmony", "reasoning_parser", "gpt_oss"));
    assertThat(shownBy("[THINK]{{ thought }}[/THINK]"))
        .isEqualTo(Map.of("reasoning_parser", "mistral"));
  }

  @ParameterizedTest
  @EnumSource(names = {"LLAMA", "LLAMACPP", "VLLM", "SGLANG", "TRTLLM", "OPENAI"})
  void anEngineThatRunsTheModelWritesAsItsTemplate(EngineKind engine) {
    assertThat(ParserNames.of(ModelDirectory.open(SHIPPED), settings(engine, null, null)))
        .isEqualTo(Map.of("tool_call_parser", "hermes", "reasoning_parser", "qwen3"));
  }

  @Test
  void tokensOfTheVocabularyAreNoTemplate() throws IOException {
    Files.writeString(
        directory.resolve("tokenizer_config.json"),
        "{\"added_tokens_decoder\":{\"1\":{\"content\":\"<think>\"},\"2\":{\"content\":\"</think>\"}}}");
    assertThat(
            ParserNames.of(ModelDirectory.open(directory), settings(EngineKind.VLLM, null, null)))
        .isEmpty();
  }

  @Test
  void templatesByNameCountTogether() throws IOException {
    Files.writeString(
        directory.resolve("tokenizer_config.json"),
        "{\"chat_template\":[{\"name\":\"default\",\"template\":\"{{ messages"
            + " }}\"},{\"name\":\"tool_use\",\"template\":\"[TOOL_CALLS]\"}]}");
    assertThat(
            ParserNames.of(ModelDirectory.open(directory), settings(EngineKind.VLLM, null, null)))
        .isEqualTo(Map.of("tool_call_parser", "mistral"));
  }

  @Test
  void settingsAreStronger() {
    var shipped = ModelDirectory.open(SHIPPED);
    assertThat(ParserNames.of(shipped, settings(EngineKind.LLAMA, "mistral", "none")))
        .isEqualTo(Map.of("tool_call_parser", "mistral"));
    assertThat(ParserNames.of(shipped, settings(EngineKind.MOCK, null, "basic")))
        .isEqualTo(Map.of("reasoning_parser", "basic"));
  }

  @Test
  void anEngineThatDoesNotRunTheModelWritesInNoForm() {
    var shipped = ModelDirectory.open(SHIPPED);
    assertThat(ParserNames.of(shipped, settings(EngineKind.MOCK, null, null))).isEmpty();
    assertThat(ParserNames.of(shipped, settings(EngineKind.ECHO, null, null))).isEmpty();
  }
}
