package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoraAdapterTest {
  @Test
  void numbersAreDynamos() throws IOException {
    try (var in = getClass().getResourceAsStream("/golden/router/lora-id.json")) {
      var cases = new ObjectMapper().readTree(Objects.requireNonNull(in)).path("cases");
      assertThat(cases).hasSize(5);
      for (var it : cases) {
        var name = it.path("lora_name").textValue();
        assertThat(LoraAdapter.idOf(name)).as(name).isEqualTo(it.path("id").intValue());
      }
    }
  }

  @Test
  void anAdaptersCardIsItsModelsUnderAnotherName() {
    var card =
        new ModelCard(
            "base",
            "base",
            "/models/base",
            null,
            new ModelFile("/models/base/tokenizer.json", "blake3:1", 1L),
            null,
            null,
            null,
            null,
            4096,
            16,
            0,
            Set.of("Chat"),
            "Tokens",
            "aggregated",
            List.of(),
            Map.of("total_kv_blocks", 7));
    var adapters = card.of(LoraAdapter.of("Ad/apter A", 4));
    assertThat(adapters.displayName()).isEqualTo("Ad/apter A");
    assertThat(adapters.slug()).isEqualTo("ad_apter_a");
    assertThat(adapters.tokenizer()).isEqualTo(card.tokenizer());
    assertThat(adapters.sourcePath()).isEqualTo("/models/base");
    assertThat(adapters.runtimeConfig()).isEqualTo(card.runtimeConfig());
    assertThat(adapters.withoutExtraFiles().lora()).isEqualTo(adapters.lora());
  }
}
