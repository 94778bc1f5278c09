package io.dynamo.worker.engine.llama.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LlamaShapeTest {
  private static final String CONFIG =
      """
      {"model_type": "llama", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 1,
       "num_attention_heads": 4, "intermediate_size": 6, "max_position_embeddings": 32}""";

  @TempDir Path folder;

  private LlamaShape read(String json) throws IOException {
    return LlamaShape.read(Files.writeString(folder.resolve("config.json"), json));
  }

  @Test
  void missingFieldsTakeTheArchitecturesDefaults() throws Exception {
    assertThat(read(CONFIG))
        .isEqualTo(new LlamaShape(10, 8, 1, 4, 4, 2, 6, 32, 1e-6f, 10000.0, false));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"model_type\": \"llama\" | \"model_type\": \"qwen2\" | runs llama only",
        "\"vocab_size\": 10 | \"vocab_size\": 0 | vocab_size 0",
        "\"num_attention_heads\": 4 | \"num_attention_heads\": 4, \"num_key_value_heads\": 3 | multiple",
        "\"vocab_size\": 10 | \"vocab_size\": 10, \"head_dim\": 3 | odd",
        "\"vocab_size\": 10 | \"vocab_size\": 10, \"attention_bias\": true | attention_bias",
        "\"vocab_size\": 10 | \"vocab_size\": 10, \"hidden_act\": \"gelu\" | hidden_act",
        "\"vocab_size\": 10 | \"vocab_size\": 10, \"rope_scaling\": {\"rope_type\": \"llama3\"} | rope_scaling"
      })
  void unsupportedModelsAreRefused(String part, String by, String message) {
    assertThatThrownBy(() -> read(CONFIG.replace(part, by)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("config.json")
        .hasMessageContaining(message);
  }
}
