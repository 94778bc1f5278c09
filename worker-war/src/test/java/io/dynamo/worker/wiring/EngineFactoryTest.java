package io.dynamo.worker.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.worker.EmbeddingSettings;
import io.dynamo.config.worker.EngineKind;
import io.dynamo.config.worker.LlamaCppSettings;
import io.dynamo.config.worker.MockSettings;
import io.dynamo.config.worker.ProcessSettings;
import io.dynamo.config.worker.RemoteSettings;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.ModelDirectory;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.echo.EchoEngine;
import io.dynamo.worker.engine.llama.LlamaEngine;
import io.dynamo.worker.engine.llamacpp.LlamaCppRanks;
import io.dynamo.worker.engine.remote.RemoteEmbedder;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EngineFactoryTest {
  private static final Path TINY = Path.of("../server-config/src/main/liberty/config/models/tiny");

  @TempDir Path folder;

  private static EngineFactory factory(EngineKind kind, Path model) {
    return factory(kind, model, List.of(URI.create("http://127.0.0.1:1")));
  }

  private static EngineFactory factory(EngineKind kind, Path model, List<URI> llamaCpp) {
    var settings =
        new WorkerSettings(
            "backend",
            "generate",
            null,
            kind,
            model,
            null,
            null,
            null,
            2,
            16,
            64,
            4096,
            Duration.ofMillis(1),
            Duration.ZERO,
            8,
            null,
            List.of(),
            null,
            16,
            Duration.ofSeconds(30),
            48,
            128,
            new EmbeddingSettings("embed", EmbeddingSettings.Pooling.LAST, true),
            new MockSettings(
                512,
                true,
                false,
                MockSettings.Preemption.FIFO,
                MockSettings.Timing.POLYNOMIAL,
                2,
                1,
                null),
            new LlamaCppSettings(llamaCpp, Duration.ofMillis(1), Duration.ofSeconds(1)),
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
    return new EngineFactory(
        settings,
        SharedLoops.LOOPS,
        new HeapMemory(),
        (facts, sink) -> {
          throw new AssertionError("no server is followed here");
        });
  }

  private static EngineParts make(EngineKind kind, Path model) {
    return factory(kind, model).make(ModelDirectory.open(model), 4096, "tiny", new Metrics());
  }

  @Test
  void llamaTakesItsSizesFromTheSettings() throws Exception {
    var made = make(EngineKind.LLAMA, TINY);
    try (var engine = made.engine()) {
      assertThat(engine).isInstanceOf(LlamaEngine.class);
      var description = engine.start(EngineContract.DEAF);
      assertThat(description.ranks()).isEqualTo(2);
      assertThat(description.totalBlocks()).isEqualTo(48);
      assertThat(description.contextLength()).as("what 48 blocks of 16 hold").isEqualTo(768);
      assertThat(description.maxRunning()).isEqualTo(8);
      var got =
          Collected.all(engine.generate(Requests.endless(new int[] {1, 2}, 3), Requests.context()));
      assertThat(got.ended().tokens()).hasSize(3);
      assertThat(made.load().ranks()).hasSize(2);
    }
  }

  @Test
  void mockTellsItsPassesAndItsCacheAsTheSettingsHaveThem() {
    try (var engine = make(EngineKind.MOCK, TINY).engine()) {
      var description = engine.start(EngineContract.DEAF);
      assertThat(description.passTokens()).isEqualTo(512);
      assertThat(description.tellsKvEvents()).isFalse();
      assertThat(description.totalBlocks()).isEqualTo(64);
    }
  }

  @Test
  void echoIsMadeToo() {
    try (var engine = make(EngineKind.ECHO, TINY).engine()) {
      assertThat(engine).isInstanceOf(EchoEngine.class);
      assertThat(engine.start(EngineContract.DEAF).contextLength()).isEqualTo(4096);
    }
  }

  @Test
  void llamaCppThatIsNotThereNamesTheWayOut() {
    try (var engine = make(EngineKind.LLAMACPP, TINY).engine()) {
      assertThatThrownBy(() -> engine.start(EngineContract.DEAF))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("http://127.0.0.1:1 was not ready within PT0.001S")
          .hasMessageContaining("dynamo.worker.llamacpp.url");
    }
  }

  @Test
  void severalServersOfLlamaCppAreRanksOfOneEngineThatHasRoomForThem() {
    var two = List.of(URI.create("http://127.0.0.1:1"), URI.create("http://127.0.0.1:2"));
    var made =
        factory(EngineKind.LLAMACPP, TINY, two)
            .make(ModelDirectory.open(TINY), 4096, "tiny", new Metrics());
    try (var engine = made.engine()) {
      assertThat(engine).isInstanceOf(LlamaCppRanks.class);
    }
    var three = new ArrayList<>(two);
    three.add(URI.create("http://127.0.0.1:3"));
    assertThatThrownBy(
            () ->
                factory(EngineKind.LLAMACPP, TINY, three)
                    .make(ModelDirectory.open(TINY), 4096, "tiny", new Metrics()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("names 3 servers, dynamo.worker.ranks is 2");
  }

  @ParameterizedTest
  @CsvSource({"VLLM, vLLM", "SGLANG, SGLang", "TRTLLM, TensorRT-LLM", "OPENAI, OpenAI"})
  void aServerThatIsNotThereNamesTheWayOut(EngineKind kind, String name) {
    try (var engine = make(kind, TINY).engine()) {
      assertThatThrownBy(() -> engine.start(EngineContract.DEAF))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(
              "the %s server at http://127.0.0.1:1 was not ready within PT0.001S".formatted(name))
          .hasMessageContaining("dynamo.worker.remote.url");
    }
  }

  @Test
  void modelWithoutWeightsNamesTheWayOut() throws IOException {
    for (var name : new String[] {"config.json", "tokenizer.json", "tokenizer_config.json"}) {
      Files.copy(TINY.resolve(name), folder.resolve(name));
    }
    assertThatThrownBy(() -> make(EngineKind.LLAMA, folder))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("model.safetensors")
        .hasMessageContaining("dynamo.worker.engine");
  }

  @Test
  void llamaEmbedsWithinTheSettings() {
    try (var embedder = embedder(EngineKind.LLAMA)) {
      var description = embedder.start();
      assertThat(description.contextLength()).isEqualTo(48 * 16);
      assertThat(description.width()).isEqualTo(192);
    }
  }

  @ParameterizedTest
  @CsvSource({"LLAMACPP", "VLLM", "OPENAI"})
  void enginesWithServersEmbedByHttp(EngineKind kind) {
    try (var embedder = embedder(kind)) {
      assertThat(embedder).isInstanceOf(RemoteEmbedder.class);
    }
  }

  @ParameterizedTest
  @CsvSource({"MOCK,mock", "ECHO,echo", "SGLANG,sglang", "TRTLLM,trtllm"})
  void enginesWithoutEmbeddingsAreRefusedByName(EngineKind kind, String name) {
    assertThatThrownBy(() -> embedder(kind))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the engine " + name + " gives none");
  }

  private static EmbeddingEngine embedder(EngineKind kind) {
    return factory(kind, TINY).embedder(ModelDirectory.open(TINY), 4096);
  }
}
