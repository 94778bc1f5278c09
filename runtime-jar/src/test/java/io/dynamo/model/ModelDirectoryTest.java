package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelDirectoryTest {
  @TempDir private Path dir;

  private void model() throws IOException {
    Files.writeString(dir.resolve("config.json"), "{\"max_position_embeddings\": 4096}");
    Files.writeString(dir.resolve("tokenizer.json"), "");
    Files.writeString(dir.resolve("tokenizer_config.json"), "abc");
  }

  @Test
  void filesAreNamedSizedAndSummed() throws IOException {
    model();

    var model = ModelDirectory.open(dir);

    // the published BLAKE3 digests of the empty input and of "abc"
    assertThat(model.tokenizer())
        .isEqualTo(
            new ModelFile(
                dir.resolve("tokenizer.json").toString(),
                "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
                0L));
    assertThat(model.tokenizerConfig().checksum())
        .isEqualTo("blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
    assertThat(model.tokenizerConfig().size()).isEqualTo(3);
    assertThat(model.chatTemplate()).isNull();
  }

  @Test
  void itsCardSurvivesDiscovery() throws IOException {
    model();
    Files.writeString(dir.resolve("chat_template.jinja"), "{{ messages }}");

    var card = ModelDirectory.open(dir).card("My/Model", 16, Map.of("data_parallel_size", 4));

    assertThat(card.slug()).isEqualTo("my_model");
    assertThat(card.contextLength()).isEqualTo(4096);
    assertThat(card.ranks()).isEqualTo(4);
    assertThat(Objects.requireNonNull(card.chatTemplate()).path()).endsWith("chat_template.jinja");
    var read = ModelCardJson.fromJson(Json.readObject(Json.write(ModelCardJson.toJson(card))));
    assertThat(read).isEqualTo(card);
  }

  @Test
  void aDirectoryWithoutTokenizerIsRefusedByName() throws IOException {
    model();
    Files.delete(dir.resolve("tokenizer.json"));

    assertThatThrownBy(() -> ModelDirectory.open(dir))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has no tokenizer.json");
  }

  @Test
  void aMissingDirectorySaysWhichSettingToChange() {
    assertThatThrownBy(() -> ModelDirectory.open(dir.resolve("none")))
        .hasMessageContaining("dynamo.worker.model-path");
  }

  @ParameterizedTest
  @CsvSource({"tiny,tiny", "__A b/C-1,a_b_c-1", "Qwen/Qwen3-0.6B,qwen_qwen3-0_6b", "日本,''"})
  void slugsFollowDynamosRule(String name, String slug) {
    assertThat(Slug.of(name)).isEqualTo(slug);
  }
}
