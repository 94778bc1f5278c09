package io.dynamo.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkerSetTest {
  private static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");

  private static WorkerSet set(@Nullable String workerType, int blockTokens, String... types) {
    return WorkerSet.of(
        ENDPOINT,
        new ModelCard(
            "m",
            "m",
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            0,
            blockTokens,
            0,
            Set.of(types),
            "Tokens",
            workerType,
            List.of(),
            Map.of()));
  }

  @Test
  void workersOfDifferentTypesAreNoOneSet() {
    assertThat(set("prefill", 16, "Chat")).isNotEqualTo(set("decode", 16, "Chat"));
    assertThat(set(null, 16, "Chat")).as("an older card").isEqualTo(set("aggregated", 16, "Chat"));
    assertThat(set(null, 16, "Prefill").workerType()).isEqualTo("prefill");
  }

  @Test
  void theOrderOfTheApisDoesNotMatter() {
    assertThat(set(null, 16, "Chat", "Completions"))
        .isEqualTo(set(null, 16, "Completions", "Chat"))
        .isNotEqualTo(set(null, 16, "Chat"));
  }

  @Test
  void setsThatDifferInTheirFilesAloneCompete() {
    assertThat(set(null, 16, "Chat").competesWith(set(null, 32, "Chat"))).isTrue();
    assertThat(set(null, 16, "Chat").competesWith(set("decode", 16, "Chat"))).isFalse();
    assertThat(set(null, 16, "Chat").competesWith(set(null, 16, "Completions"))).isFalse();
  }
}
