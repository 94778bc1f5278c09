package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.memory.HeapShare;
import io.dynamo.config.worker.EngineKind;
import io.dynamo.config.worker.WorkerReader;
import io.dynamo.testing.TestSettings;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** One model of the plain keys, or several of their own. */
class WorkerReaderTest {
  @Test
  void withoutAListThePlainKeysAreTheOneModel() {
    var settings = TestSettings.with(Map.of("dynamo.worker.engine", "echo"));
    assertThat(settings.workers()).containsExactly(settings.worker());
    assertThat(settings.worker().engine()).isEqualTo(EngineKind.ECHO);
    assertThat(settings.worker().component()).isEqualTo("backend");
    assertThat(settings.worker().modelName()).isNull();
  }

  @Test
  void eachModelHasItsOwnSettingsAndThoseOfAllOtherwise() {
    var workers =
        TestSettings.with(
                Map.of(
                    "dynamo.worker.models", "chat, small",
                    "dynamo.worker.engine", "mock",
                    "dynamo.worker.ranks", "2",
                    "dynamo.worker.model-name", "is that of one model",
                    "dynamo.worker.models.small.engine", "llama",
                    "dynamo.worker.models.small.llama.pass-tokens", "7",
                    "dynamo.worker.models.small.model-path", "/models/small",
                    "dynamo.worker.models.small.model-name", "Small/1",
                    "dynamo.worker.models.small.component", "tiny"))
            .workers();
    assertThat(workers).hasSize(2);
    var chat = workers.getFirst();
    assertThat(chat.engine()).isEqualTo(EngineKind.MOCK);
    assertThat(chat.modelName()).isEqualTo("chat");
    assertThat(chat.component()).isEqualTo("chat");
    assertThat(chat.endpoint()).isEqualTo("generate");
    assertThat(chat.ranks()).isEqualTo(2);
    var small = workers.getLast();
    assertThat(small.engine()).isEqualTo(EngineKind.LLAMA);
    assertThat(small.llamaPassTokens()).isEqualTo(7);
    assertThat(small.modelPath()).isEqualTo(Path.of("/models/small"));
    assertThat(small.modelName()).isEqualTo("Small/1");
    assertThat(small.component()).isEqualTo("tiny");
    assertThat(small.ranks()).isEqualTo(2);
  }

  @Test
  void severalServersOfLlamaCppAreReadInTheirOrder() {
    var key = "dynamo.worker.llamacpp.url";
    var settings = TestSettings.with(Map.of(key, "http://b:1, https://a:2"));
    assertThat(settings.worker().llamaCpp().urls())
        .containsExactly(URI.create("http://b:1"), URI.create("https://a:2"));
    assertThatThrownBy(() -> TestSettings.with(Map.of(key, "http://a:1,http://a:1")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("names http://a:1 twice");
    assertThatThrownBy(() -> TestSettings.with(Map.of(key, "http://a:1,")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(key);
    assertThatThrownBy(() -> TestSettings.with(Map.of(key, "http://a:1,http://b:1/v1")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("without a path");
  }

  @Test
  void duplicateModelNamesAreRefused() {
    assertThatThrownBy(
            () ->
                TestSettings.with(
                    Map.of(
                        "dynamo.worker.models", "a,b",
                        "dynamo.worker.models.a.component", "b",
                        "dynamo.worker.models.a.model-name", "b")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("the models a and b have the same component \"b\"")
        .hasMessageContaining("the models a and b have the same model-name \"b\"");
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.worker.models", "a,a")))
        .hasMessageContaining("the models a and a have the same component");
  }

  @Test
  void blocksWhoseTablesDoNotFitTheHeapAreRefused() {
    long most = HeapShare.BLOCK_TABLES.bytes() / WorkerReader.TABLE_BYTES_PER_BLOCK;
    var two =
        new HashMap<>(
            Map.of(
                "dynamo.roles", "worker",
                "dynamo.worker.models", "a,b",
                "dynamo.worker.engine", "mock",
                "dynamo.worker.ranks", "2",
                "dynamo.worker.blocks-per-rank", Long.toString(most / 4)));
    assertThat(TestSettings.with(two).workers()).hasSize(2);

    two.put("dynamo.worker.models.b.blocks-per-rank", Long.toString(most / 4 + 1));
    assertThatThrownBy(() -> TestSettings.with(two))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.worker.ranks x dynamo.worker.blocks-per-rank")
        .hasMessageContaining("has room for " + most + " blocks")
        .hasMessageContaining("-Xmx");

    two.put("dynamo.worker.models.b.engine", "echo"); // has none
    assertThat(TestSettings.with(two).workers()).hasSize(2);
    two.remove("dynamo.worker.models.b.engine");
    two.put("dynamo.roles", "frontend");
    assertThat(TestSettings.with(two).workers()).hasSize(2);
  }

  @Test
  void aBadValueOfAModelIsRefusedByItsFullKey() {
    assertThatThrownBy(
            () ->
                TestSettings.with(
                    Map.of("dynamo.worker.models", "a", "dynamo.worker.models.a.ranks", "0")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.worker.models.a.ranks = \"0\" (from test)");
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.worker.models", "a b")))
        .hasMessageContaining("dynamo.worker.models names \"a b\"");
  }
}
