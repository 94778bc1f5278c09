package io.dynamo.config.router;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.config.key.Lookup;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads routing settings of worker cards, as workers of the published release write them. */
class RouterCardTest {
  private static final RouterSettings OWN =
      new RouterSettings(
          RouterSettings.Mode.RANDOM,
          new RouterSettings.Costs(
              2, 1, 1, 1, 1, 1, 1, RouterSettings.TieBreak.RANDOM, RouterSettings.Policy.TWO_TIER),
          new RouterSettings.Tracking(false, true, false, false, false, Duration.ofSeconds(7)),
          new RouterSettings.Indexing(true, Duration.ofSeconds(5), Duration.ofSeconds(3)),
          new RouterSettings.Queueing(
              3, RouterSettings.QueuePolicy.LCFS, 17, Duration.ofSeconds(2), Duration.ofSeconds(4)),
          RouterSettings.Busy.STANDARD,
          new RouterSettings.Sessions(Duration.ofSeconds(9), RouterSettings.SessionMode.SOFT),
          new RouterSettings.Explaining(3, true),
          2,
          5,
          RouterSettings.LocalPrefill.NEVER);

  private static Map<String, @Nullable Object> captured(String name) throws IOException {
    try (var in = RouterCardTest.class.getResourceAsStream("/golden/router/card-config.json")) {
      var all =
          new ObjectMapper()
              .readValue(in, new TypeReference<Map<String, Map<String, @Nullable Object>>>() {});
      var card = all.get(name);
      if (card == null) {
        throw new AssertionError(name);
      }
      return JsonObject.of(card).members();
    }
  }

  @Test
  void aCardReplacesWhatDynamoHasAndLeavesTheRest() throws IOException {
    var reading = RouterCard.read(captured("kv"), OWN);

    assertThat(reading.ignored()).isEmpty();
    assertThat(reading.settings())
        .isEqualTo(
            new RouterSettings(
                RouterSettings.Mode.KV,
                new RouterSettings.Costs(
                    0.9,
                    0,
                    1,
                    0.5,
                    0.6,
                    0.25,
                    0.5,
                    RouterSettings.TieBreak.RANDOM,
                    RouterSettings.Policy.TWO_TIER),
                new RouterSettings.Tracking(true, false, true, true, true, Duration.ofSeconds(7)),
                new RouterSettings.Indexing(false, Duration.ofMinutes(2), null),
                new RouterSettings.Queueing(
                    2,
                    RouterSettings.QueuePolicy.WSPT,
                    17,
                    Duration.ofSeconds(2),
                    Duration.ofSeconds(4)),
                RouterReader.read(
                        name ->
                            switch (name) {
                              case "dynamo.router.active-prefill-tokens-threshold" ->
                                  new Lookup.SettingText("4000", "test");
                              case "dynamo.router.active-prefill-tokens-threshold-frac" ->
                                  new Lookup.SettingText("1.5", "test");
                              default -> null;
                            })
                    .busy(),
                new RouterSettings.Sessions(
                    Duration.ofSeconds(60), RouterSettings.SessionMode.HARD),
                new RouterSettings.Explaining(3, true),
                2,
                5,
                RouterSettings.LocalPrefill.NEVER));
  }

  @Test
  void aThresholdThatACardDoesNotNameIsTheFrontends() throws IOException {
    var reading = RouterCard.read(captured("least_loaded"), OWN);

    assertThat(reading.ignored()).isEmpty();
    assertThat(reading.settings().mode()).isEqualTo(RouterSettings.Mode.LEAST_LOADED);
    assertThat(reading.settings().queueing().threshold()).isEqualTo(3);
    assertThat(reading.settings().queueing().policy()).isEqualTo(RouterSettings.QueuePolicy.FCFS);
    assertThat(reading.settings().indexing().predictedTtl()).isNull();
    assertThat(reading.settings().busy().decodeBlocks()).isEqualTo(0.8);
    assertThat(reading.settings().sessions())
        .isEqualTo(
            new RouterSettings.Sessions(Duration.ofSeconds(60), RouterSettings.SessionMode.SOFT));
  }

  @Test
  void aCardSaysWhatASharedCacheIsWorthAndTheRouterWhereItHearsOfIt() {
    var own =
        OWN.with(
            OWN.indexing().with(new RouterSettings.SharedCaching(false, 0, "tcp://mooncake:5557")));
    var card = Map.of("shared_cache_type", "hicache", "shared_cache_multiplier", 0.25);

    var reading = RouterCard.read(Map.of("router_mode", "k_v", "kv_router_config", card), own);

    assertThat(reading.ignored()).isEmpty();
    assertThat(reading.settings().indexing().sharedCache())
        .isEqualTo(new RouterSettings.SharedCaching(true, 0.25, "tcp://mooncake:5557"));
  }

  @Test
  void aCardSaysWhichPromptsDecodeWorkersCompute() {
    var card =
        Map.of(
            "conditional_disagg_enabled",
            true,
            "conditional_disagg_policy",
            "isl_bounding",
            "conditional_disagg_eff_isl_threshold",
            512,
            "conditional_disagg_decode_busy_threshold",
            0.5);

    var reading = RouterCard.read(Map.of("router_mode", "k_v", "kv_router_config", card), OWN);

    assertThat(reading.ignored()).isEmpty();
    assertThat(reading.settings().localPrefill())
        .isEqualTo(
            new RouterSettings.LocalPrefill(
                RouterSettings.LocalPrefillPolicy.ISL_BOUNDING, 512, 0.7, 4, 0.5));
  }

  @Test
  void anEmptyCardLeavesTheMode() {
    assertThat(RouterCard.read(Map.of(), OWN).settings().mode())
        .isEqualTo(RouterSettings.Mode.RANDOM);
  }

  @ParameterizedTest
  @CsvSource({
    "k_v, KV",
    "kv, KV",
    "round_robin, ROUND_ROBIN",
    "random, RANDOM",
    "power_of_two_choices, POWER_OF_TWO",
    "direct, DIRECT",
    "least_loaded, LEAST_LOADED",
    "device_aware_weighted, DEVICE_AWARE_WEIGHTED"
  })
  void everyModeHasItsNameInCards(String name, RouterSettings.Mode mode) {
    var reading = RouterCard.read(Map.of("router_mode", name), OWN);
    assertThat(reading.settings().mode()).isEqualTo(mode);
    assertThat(reading.ignored()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "router_temperature, -1",
    "router_temperature, warm",
    "shared_cache_type, redis",
    "shared_cache_multiplier, 2",
    "enable_session_prefix_index, true",
    "conditional_disagg_policy, always",
    "a_later_field, 1",
    "router_prefill_policy, mine"
  })
  void invalidFieldsAreNamedAndOthersApply(String field, String value) {
    var reading =
        RouterCard.read(
            Map.of(
                "router_mode",
                "k_v",
                "kv_router_config",
                Map.of(field, value, "router_ttl_secs", 7)),
            OWN);
    assertThat(reading.ignored()).singleElement().asString().contains(field);
    assertThat(reading.settings().mode()).isEqualTo(RouterSettings.Mode.KV);
    assertThat(reading.settings().indexing().ttl()).isEqualTo(Duration.ofSeconds(7));
    assertThat(reading.settings().costs().temperature()).isZero();
  }

  @Test
  void aSharedIndexCountsWhereItFits() {
    var shared = Map.of("router_mode", "k_v", "kv_router_config", Map.of("serve_indexer", true));
    assertThat(RouterCard.read(shared, OWN).settings().indexing().sharing())
        .isEqualTo(RouterSettings.IndexSharing.SERVE);
    var both =
        Map.of(
            "router_mode",
            "k_v",
            "kv_router_config",
            Map.of("serve_indexer", true, "use_remote_indexer", true, "router_ttl_secs", 7));
    var reading = RouterCard.read(both, OWN);
    assertThat(reading.ignored()).singleElement().asString().contains("exclude each other");
    assertThat(reading.settings().indexing().sharing()).isEqualTo(RouterSettings.IndexSharing.NONE);
    assertThat(reading.settings().indexing().ttl()).isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void aSecretCountsWithAllItsParts() {
    var config =
        Map.of(
            "router_tracking_hash", "keyed-xxh3-v1",
            "router_tracking_key_file", "/keys/Router_1",
            "router_tracking_key_id", "A_1");
    assertThat(RouterCard.read(Map.of("kv_router_config", config), OWN).settings().tracking().key())
        .isEqualTo(new RouterSettings.KeyFile(Path.of("/keys/Router_1"), "A_1"));

    var partial =
        RouterCard.read(
            Map.of("kv_router_config", Map.of("router_tracking_hash", "keyed-xxh3-v1")), OWN);
    assertThat(partial.settings().tracking().key()).isNull();
    assertThat(partial.ignored()).hasSize(1);
  }
}
