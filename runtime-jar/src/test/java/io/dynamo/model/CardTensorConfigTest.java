package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The tensors that a card describes, as a worker of Dynamo 1.6.1 published them. */
class CardTensorConfigTest {
  private static ModelCard card(String config) {
    return ModelCardJson.fromJson(
        Json.readObject(
            """
            {"display_name":"m","slug":"m","kv_cache_block_size":16,"migration_limit":0,
             "model_type":"TensorBased","model_input":"Tensor","needs":[],
             "tensor_model_config":%s}\
            """
                .formatted(config)
                .getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void tensorsOfACardAreReadAndWritten() {
    var card = card("{\"name\":\"m\",\"inputs\":[],\"outputs\":[]}");

    assertThat(card.takesTensors()).isTrue();
    assertThat(card.takesBodies()).isFalse();
    assertThat(card.tensorConfig()).containsEntry("inputs", List.of());
    assertThat(ModelCardJson.toJson(card))
        .containsEntry("tensor_model_config", card.tensorConfig());
    assertThat(card.withAliases(List.of("other")).tensorConfig()).isEqualTo(card.tensorConfig());
  }

  @Test
  void cardsNeedNotDescribeThem() {
    assertThat(card("null").tensorConfig()).isEmpty();
    assertThat(ModelCardJson.toJson(card("null"))).doesNotContainKey("tensor_model_config");
    assertThatThrownBy(() -> card("[]")).isInstanceOf(IllegalArgumentException.class);
  }
}
