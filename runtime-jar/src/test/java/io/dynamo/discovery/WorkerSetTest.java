package io.dynamo.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.model.ModelCard;
import java.util.LinkedHashMap;
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

  @Test
  void setsThatAreRoutedDifferentlyCompete() {
    var plain = card(Map.of());
    var random = card(Map.of("router_mode", "random"));
    assertThat(WorkerSet.of(ENDPOINT, random)).isNotEqualTo(WorkerSet.of(ENDPOINT, plain));
    assertThat(WorkerSet.of(ENDPOINT, random).competesWith(WorkerSet.of(ENDPOINT, plain))).isTrue();
  }

  @Test
  void theOrderOfRouterSettingsDoesNotMatter() {
    var one = new LinkedHashMap<String, @Nullable Object>();
    one.put("router_mode", "k_v");
    one.put("kv_router_config", inOrder("use_kv_events", "router_temperature"));
    var other = new LinkedHashMap<String, @Nullable Object>();
    other.put("kv_router_config", inOrder("router_temperature", "use_kv_events"));
    other.put("router_mode", "k_v");
    assertThat(WorkerSet.of(ENDPOINT, card(one))).isEqualTo(WorkerSet.of(ENDPOINT, card(other)));
  }

  private static ModelCard card(Map<String, @Nullable Object> routerConfig) {
    return new ModelCard(
        "m",
        "m",
        null,
        null,
        null,
        null,
        null,
        null,
        List.of(),
        0,
        0,
        16,
        0,
        Set.of("Chat"),
        "Tokens",
        null,
        List.of(),
        Map.of(),
        routerConfig,
        null);
  }

  private static Map<String, Object> inOrder(String... keys) {
    var map = new LinkedHashMap<String, Object>();
    for (var key : keys) {
      map.put(key, 0);
    }
    return map;
  }
}
