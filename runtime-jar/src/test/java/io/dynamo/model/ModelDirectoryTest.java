package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    Files.writeString(dir.resolve("special_tokens_map.json"), "{}");

    var card = ModelDirectory.open(dir).card("My/Model", 16, Map.of("data_parallel_size", 4));

    assertThat(card.slug()).isEqualTo("my_model");
    assertThat(card.contextLength()).isEqualTo(4096);
    assertThat(card.ranks()).isEqualTo(4);
    assertThat(Objects.requireNonNull(card.chatTemplate()).path()).endsWith("chat_template.jinja");
    var read = ModelCardJson.fromJson(Json.readObject(Json.write(ModelCardJson.toJson(card))));
    assertThat(read).isEqualTo(card);
  }

  @Test
  void extraFilesAreThoseThatDynamoTakes() throws IOException { // its choice as seen with 1.6.1
    model();
    Files.writeString(dir.resolve("generation_config.json"), "{}");
    Files.writeString(dir.resolve("chat_template.jinja"), "");
    var taken =
        List.of(
            "special_tokens_map.json",
            "added_tokens.json",
            "vocab.json",
            "merges.txt",
            "chat_template.json",
            "chat_template.jinja2",
            "tokenizer.model",
            "tiktoken.model",
            "preprocessor_config.json",
            "model.safetensors.index.json",
            "w.safetensors.bak",
            "pytorch_model.bin.index.json",
            "config.json.bak",
            "X.BIN",
            "X.SafeTensors",
            "README",
            "readme.md",
            "README.txt",
            "LICENSE",
            "LICENSE.md",
            "USE_POLICY.md",
            "noext",
            "a.png",
            "b.py",
            "c.pb",
            "d.npy",
            "e.pkl",
            "h.npz",
            "i.gguf.part",
            "j.ckpt",
            "g.onnx_data",
            "b.mlmodel",
            "rust_model.ot",
            "model.ggml",
            "empty.json");
    var left =
        List.of(
            "README.md",
            ".gitattributes",
            ".hidden.json",
            "pytorch_model.bin",
            "model.pt",
            "x.pth",
            "y.gguf",
            "z.onnx",
            "model.safetensors",
            "f.h5",
            "g.msgpack",
            "a.tflite");
    for (var name : taken) {
      Files.writeString(dir.resolve(name), name);
    }
    for (var name : left) {
      Files.writeString(dir.resolve(name), name);
    }
    Files.createDirectory(dir.resolve("folder"));
    Files.createSymbolicLink(dir.resolve("link.md"), dir.resolve("README.md"));
    Files.createSymbolicLink(dir.resolve("dangling.json"), dir.resolve("nothing"));

    var extra = ModelDirectory.open(dir).card(null, 16, Map.of()).extraFiles();

    var expected = new ArrayList<>(taken);
    expected.add("link.md");
    assertThat(extra.stream().map(ModelFile::name)).containsExactlyInAnyOrderElementsOf(expected);
    try (var entries = Files.list(dir)) {
      assertThat(extra.stream().map(ModelFile::name))
          .as("in the directory's order")
          .containsExactlyElementsOf(
              entries
                  .map(entry -> String.valueOf(entry.getFileName()))
                  .filter(expected::contains)
                  .toList());
    }
  }

  @Test
  void aCardsSumTellsModelsApartAndNotWhereTheirFilesAre() throws IOException {
    model();
    var card = ModelDirectory.open(dir).card("m", 16, Map.of());
    var hosted =
        card.withFiles(
            file -> new ModelFile("http://x/" + file.name(), file.checksum(), file.size()));
    Files.writeString(dir.resolve("tokenizer.json"), "other");

    assertThat(ModelCardSum.of(card)).matches("[0-9a-f]{64}").isEqualTo(ModelCardSum.of(hosted));
    assertThat(ModelCardSum.of(ModelDirectory.open(dir).card("m", 16, Map.of())))
        .isNotEqualTo(ModelCardSum.of(card));
    assertThat(ModelCardSum.of(card))
        .isNotEqualTo(ModelCardSum.of(ModelDirectory.open(dir).card("m", 32, Map.of())));
  }

  @Test
  void modelsThatAlsoSeeHaveTheirSizesWithinTheTextsConfig() throws IOException { // as Kimi K3
    model();
    Files.writeString(
        dir.resolve("config.json"),
        """
        {"model_type": "kimi_k3", "media_placeholder_token_id": 163605,
         "text_config": {"model_type": "kimi_linear", "max_position_embeddings": 1048576, "vocab_size": 163840},
         "vision_config": {"max_position_embeddings": 7, "vocab_size": 8}}
        """);
    var nested = ModelDirectory.open(dir);
    assertThat(nested.contextLength()).isEqualTo(1048576);
    assertThat(nested.vocabularySize()).isEqualTo(163840);
    assertThat(nested.card("m", 16, Map.of()).contextLength()).isEqualTo(1048576);

    Files.writeString(
        dir.resolve("config.json"),
        """
        {"max_position_embeddings": 1, "vocab_size": 2,
         "text_config": {"max_position_embeddings": 3, "vocab_size": 4}}
        """);
    var both = ModelDirectory.open(dir);
    assertThat(both.contextLength()).isEqualTo(1);
    assertThat(both.vocabularySize()).isEqualTo(2);

    Files.writeString(dir.resolve("config.json"), "{\"text_config\": null}");
    assertThat(ModelDirectory.open(dir).contextLength()).isNull();
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
