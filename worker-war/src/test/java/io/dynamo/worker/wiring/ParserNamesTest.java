package io.dynamo.worker.wiring;

import static org.assertj.core.api.Assertions.assertThat;

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
            null),
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
    assertThat(shownBy("<think>\n\n</think>")).isEqualTo(Map.of("reasoning_parser", "qwen3"));
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
