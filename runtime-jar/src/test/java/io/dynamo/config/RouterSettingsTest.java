package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.key.Lookup.SettingText;
import io.dynamo.config.router.RouterSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RouterSettingsTest {
  private static RouterSettings read(Map<String, String> given) {
    var all =
        new HashMap<>(
            Map.of("java.io.tmpdir", "/tmp", "server.config.dir", "/c", "server.output.dir", "/o"));
    all.putAll(given);
    return SettingsReader.read(
            name -> all.containsKey(name) ? new SettingText(all.get(name), "test") : null)
        .router();
  }

  private static RouterSettings environment(Map<String, String> variables) {
    return read(new EnvironmentAliases(variables::get).getProperties());
  }

  @Test
  void withNothingSetEverythingIsStandard() {
    assertThat(read(Map.of())).isEqualTo(RouterSettings.of(RouterSettings.Mode.KV));
  }

  @ParameterizedTest
  @CsvSource({
    "round-robin, ROUND_ROBIN",
    "round_robin, ROUND_ROBIN",
    "random, RANDOM",
    "power-of-two, POWER_OF_TWO",
    "power_of_two_choices, POWER_OF_TWO",
    "least_loaded, LEAST_LOADED",
    "direct, DIRECT",
    "device-aware-weighted, DEVICE_AWARE_WEIGHTED",
    "KV, KV"
  })
  void modesAreReadAsDynamoWritesThem(String text, RouterSettings.Mode mode) {
    assertThat(environment(Map.of("DYN_ROUTER_MODE", text)).mode()).isEqualTo(mode);
  }

  @Test
  void everyAliasSetsItsOwnKey() {
    var variables = new HashMap<String, String>();
    variables.put("DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT_DECAY", "0.1");
    variables.put("DYN_ROUTER_PREFILL_LOAD_SCALE", "0.2");
    variables.put("DYN_ROUTER_DECODE_ACTIVE_REQUEST_WEIGHT", "0.3");
    variables.put("DYN_ROUTER_HOST_CACHE_HIT_WEIGHT", "0.4");
    variables.put("DYN_ROUTER_DISK_CACHE_HIT_WEIGHT", "0.5");
    variables.put("DYN_ROUTER_TEMPERATURE", "0.6");
    variables.put("DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT", "0.7");
    variables.put("DYN_ROUTER_WORKER_SELECTION_POLICY", "dynamo-two-tier-cost-fn");
    variables.put("DYN_ROUTER_TRACK_OUTPUT_BLOCKS", "true");
    variables.put("DYN_ROUTER_ASSUME_KV_REUSE", "false");
    variables.put("DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS", "60");
    variables.put("DYN_USE_KV_EVENTS", "true");
    variables.put("DYN_ROUTER_USE_KV_EVENTS", "false");
    variables.put("DYN_ROUTER_TTL_SECS", "1.5");
    variables.put("DYN_ROUTER_PREDICTED_TTL_SECS", "2");
    variables.put("DYN_ROUTER_QUEUE_THRESHOLD", "2.5");
    variables.put("DYN_ROUTER_QUEUE_POLICY", "wspt");
    variables.put("DYN_ROUTER_SESSION_AFFINITY_TTL_SECS", "3");
    variables.put("DYN_ACTIVE_DECODE_BLOCKS_THRESHOLD", "0.9");
    variables.put("DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD", "1000");
    variables.put("DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD_FRAC", "1.5");
    variables.put("DYN_ROUTER_MIN_INITIAL_WORKERS", "4");

    var settings = environment(variables);

    assertThat(settings.costs())
        .isEqualTo(
            new RouterSettings.Costs(
                0.7,
                0.1,
                0.2,
                0.3,
                0.4,
                0.5,
                0.6,
                RouterSettings.TieBreak.LOAD,
                RouterSettings.Policy.TWO_TIER));
    assertThat(settings.tracking())
        .isEqualTo(
            new RouterSettings.Tracking(true, true, false, true, false, Duration.ofMinutes(1)));
    assertThat(settings.indexing())
        .isEqualTo(
            new RouterSettings.Indexing(false, Duration.ofMillis(1500), Duration.ofSeconds(2)));
    assertThat(settings.queueing().threshold()).isEqualTo(2.5);
    assertThat(settings.queueing().policy()).isEqualTo(RouterSettings.QueuePolicy.WSPT);
    assertThat(settings.sessions().ttl()).isEqualTo(Duration.ofSeconds(3));
    assertThat(settings.busy()).isEqualTo(new RouterSettings.Busy(0.9, 1000L, 1.5));
    assertThat(settings.minInitialWorkers()).isEqualTo(4);
  }

  @Test
  void localPrefillIsSetByOneObjectInTheEnvironment() {
    var settings =
        environment(
            Map.of(
                "DYN_ROUTER_CONDITIONAL_DISAGG",
                "true",
                "DYN_ROUTER_CONDITIONAL_DISAGG_CONFIG",
                """
                {"policy": "isl_or_load", "eff_isl_threshold": 100, "prefill_busy_threshold": 1.5}
                """));
    assertThat(settings.localPrefill())
        .isEqualTo(
            new RouterSettings.LocalPrefill(
                RouterSettings.LocalPrefillPolicy.ISL_OR_LOAD, 100, 0.7, 1.5, null));
    assertThatExceptionOfType(InvalidSettingsException.class)
        .isThrownBy(
            () -> environment(Map.of("DYN_ROUTER_CONDITIONAL_DISAGG_CONFIG", "isl_bounding")))
        .withMessageContaining("dynamo.router.conditional-disagg-eff-isl-threshold");
  }

  @ParameterizedTest
  @CsvSource({
    "mode, random",
    "load-aware, true",
    "use-kv-events, false",
  })
  void localPrefillNeedsTheEventsOfDecodeWorkers(String key, String value) {
    assertThatExceptionOfType(InvalidSettingsException.class)
        .isThrownBy(
            () ->
                read(
                    Map.of(
                        "dynamo.router.conditional-disagg", "true", "dynamo.router." + key, value)))
        .withMessageContaining("dynamo.router.conditional-disagg = \"true\" needs");
  }

  @Test
  void aPolicyByLoadNeedsAThreshold() {
    var settings =
        Map.of(
            "dynamo.router.conditional-disagg", "true",
            "dynamo.router.conditional-disagg-policy", "prefill-load",
            "dynamo.router.queue-threshold", "off");
    assertThatExceptionOfType(InvalidSettingsException.class)
        .isThrownBy(() -> read(settings))
        .withMessageContaining("dynamo.router.conditional-disagg-prefill-busy-threshold");
  }

  @Test
  void aBlockOfASharedCacheIsWorthHalfUnlessItIsSaid() {
    var none = read(Map.of("dynamo.router.shared-cache-multiplier", "0.9"));
    assertThat(none.indexing().sharedCache()).isEqualTo(RouterSettings.SharedCaching.NONE);

    var unsaid = read(Map.of("dynamo.router.shared-cache-type", "hicache"));
    assertThat(unsaid.indexing().sharedCache())
        .isEqualTo(new RouterSettings.SharedCaching(true, 0.5, null));

    var said =
        environment(
            Map.of(
                "DYN_SHARED_CACHE_TYPE", "hicache",
                "DYN_SHARED_CACHE_MULTIPLIER", "0",
                "DYN_MOONCAKE_KV_EVENTS_ENDPOINT", "tcp://mooncake:5557"));
    assertThat(said.indexing().sharedCache())
        .isEqualTo(new RouterSettings.SharedCaching(true, 0, "tcp://mooncake:5557"));

    var loadAware =
        read(
            Map.of(
                "dynamo.router.shared-cache-type", "hicache", "dynamo.router.load-aware", "true"));
    assertThat(loadAware.indexing().sharedCache().isOn()).isFalse();
  }

  @Test
  void thePresetsAndTheOldNameAreUnderstood() {
    var aware = read(Map.of("dynamo.router.load-aware", "true", "dynamo.router.mode", "random"));
    assertThat(aware.mode()).isEqualTo(RouterSettings.Mode.KV);
    assertThat(aware.costs().overlapScoreCredit()).isZero();
    assertThat(aware.indexing().kvEvents()).isFalse();
    assertThat(aware.tracking().assumeKvReuse()).isFalse();
    var old = environment(Map.of("DYN_OVERLAP_SCORE_WEIGHT", "2"));
    assertThat(old.costs().prefillLoadScale()).isEqualTo(2);
    assertThat(old.costs().overlapScoreCredit()).isEqualTo(1);
    var none = environment(Map.of("DYN_ROUTER_KV_OVERLAP_SCORE_WEIGHT", "0"));
    assertThat(none.costs().overlapScoreCredit()).isZero();
    var patient = read(Map.of("dynamo.router.queue-threshold", "off"));
    assertThat(patient.queueing().threshold()).isInfinite();
    var impatient =
        read(
            Map.of(
                "dynamo.router.min-initial-workers",
                "3",
                "dynamo.router.skip-initial-worker-wait",
                "true"));
    assertThat(impatient.minInitialWorkers()).isZero();
  }

  @Test
  void anIndexMayBeSharedOneWayOrTheOther() {
    assertThat(read(Map.of()).indexing().sharing()).isEqualTo(RouterSettings.IndexSharing.NONE);
    assertThat(read(Map.of("dynamo.router.serve-indexer", "true")).indexing().sharing())
        .isEqualTo(RouterSettings.IndexSharing.SERVE);
    assertThat(read(Map.of("dynamo.router.use-remote-indexer", "true")).indexing().sharing())
        .isEqualTo(RouterSettings.IndexSharing.ASK);
    var preset =
        Map.of("dynamo.router.use-remote-indexer", "true", "dynamo.router.load-aware", "true");
    assertThat(read(preset).indexing().sharing()).isEqualTo(RouterSettings.IndexSharing.NONE);
  }

  @ParameterizedTest
  @CsvSource({
    "serve-indexer, use-remote-indexer, true",
    "serve-indexer, mode, round-robin",
    "use-remote-indexer, mode, random",
    "serve-indexer, use-kv-events, false",
    "use-remote-indexer, use-kv-events, false"
  })
  void anIndexThatIsNotThereIsNotShared(String key, String other, String value) {
    assertThatExceptionOfType(InvalidSettingsException.class)
        .isThrownBy(
            () -> read(Map.of("dynamo.router." + key, "true", "dynamo.router." + other, value)))
        .withMessageContaining("dynamo.router." + key + " = ")
        .withMessageContaining("dynamo.router." + other + " = ");
  }

  @ParameterizedTest
  @CsvSource({
    "temperature, -1",
    "temperature, warm",
    "host-cache-hit-weight, -0.1",
    "queue-policy, drr",
    "queue-threshold, -1",
    "queue-threshold, NaN",
    "ttl-secs, 0",
    "session-affinity-ttl-secs, 0.5",
    "session-affinity-ttl-secs, 31536001",
    "active-decode-blocks-threshold, 1.1",
    "worker-selection-policy, nope",
    "shared-cache-type, redis",
    "shared-cache-multiplier, 1.1",
    "shared-cache-multiplier, -0.1",
    "shared-cache-events, mooncake:5557",
    "shared-cache-events, ipc:///tmp/events",
    "prefill-load-model, ais",
    "tracking-hash, keyed-xxh3-v1",
    "approximate-cache-policy, fifo",
    "cuda-to-cpu-ratio, 0",
    "enable-session-prefix-index, true",
    "conditional-disagg-policy, always",
    "conditional-disagg-eff-isl-ratio-threshold, 1.1"
  })
  void invalidValuesAreRefusedByTheirKey(String key, String value) {
    assertThatExceptionOfType(InvalidSettingsException.class)
        .isThrownBy(() -> read(Map.of("dynamo.router." + key, value)))
        .withMessageContaining("dynamo.router." + key + " = ");
  }

  @Test
  void aSecretNeedsItsFileItsNameAndItsUse() {
    var whole =
        Map.of(
            "dynamo.router.tracking-hash", "keyed-xxh3-v1",
            "dynamo.router.tracking-key-file", "/keys/router",
            "dynamo.router.tracking-key-id", "2026-01");
    assertThat(read(whole).tracking().key())
        .isEqualTo(new RouterSettings.KeyFile(Path.of("/keys/router"), "2026-01"));
    for (var missing : whole.keySet()) {
      var rest = new HashMap<>(whole);
      rest.remove(missing);
      assertThatExceptionOfType(InvalidSettingsException.class)
          .isThrownBy(() -> read(rest))
          .withMessageContaining("dynamo.router.tracking-key-file");
    }
  }
}
