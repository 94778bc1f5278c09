package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelAliasesTest {
  private static JsonObject json(String members) {
    return Json.readObject(
        """
        {"display_name":"m","slug":"m","kv_cache_block_size":16,"migration_limit":0,
         "model_type":"Chat | Completions","model_input":"Tokens","needs":[]%s}\
        """
            .formatted(members)
            .getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aliasesOfACardAreReadAndWritten() {
    var card = ModelCardJson.fromJson(json(",\"aliases\":[\"a\",\"\",\"b\"]"));
    assertThat(card.aliases()).containsExactly("a", "b");
    assertThat(ModelCardJson.toJson(card)).containsEntry("aliases", List.of("a", "b"));
    assertThat(card.withoutExtraFiles().withTaints(List.of("t")).aliases()).hasSize(2);
    assertThat(card.of(LoraAdapter.of("ad", 1)).aliases()).as("they are the model's").isEmpty();
  }

  @Test
  void aCardWithoutAliasesHasNone() {
    for (var members : List.of("", ",\"aliases\":null", ",\"aliases\":[]")) {
      var card = ModelCardJson.fromJson(json(members));
      assertThat(card.aliases()).isEmpty();
      assertThat(ModelCardJson.toJson(card)).doesNotContainKey("aliases");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ModelCardJson.fromJson(json(",\"aliases\":[1]")))
        .withMessageContaining("aliases");
  }

  @Test
  void typesThatDynamoDoesNotHaveAreNamed() {
    assertThat(ModelTypes.unknown(List.of("Chat", "chat", "Pooling", "Telepathy")))
        .containsExactly("Telepathy", "chat");
  }
}
