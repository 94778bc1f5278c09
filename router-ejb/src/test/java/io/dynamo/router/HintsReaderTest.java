package io.dynamo.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of reading hints from the wire. */
public class HintsReaderTest {
  public static RouteHints read(
      RoutePhase phase, @Nullable Integer rank, Map<String, Object> routing) {
    return read(phase, rank, routing, Map.of());
  }

  private static RouteHints read(
      RoutePhase phase,
      @Nullable Integer rank,
      Map<String, Object> routing,
      Map<String, Object> others) {
    return read(phase, rank, routing, others, null);
  }

  private static RouteHints read(
      RoutePhase phase,
      @Nullable Integer rank,
      Map<String, Object> routing,
      Map<String, Object> others,
      @Nullable String session) {
    return HintsReader.read(
        new GenerateRequest(
            "m",
            new int[] {1},
            new StopConditions(1, List.of(), List.of(), null, false),
            SamplingOptions.DEFAULTS,
            OutputOptions.DEFAULTS,
            new int[0],
            null,
            List.of(),
            new RoutingHints(rank, PassedOn.of(routing)),
            Map.of(),
            Handoff.NONE,
            PassedOn.of(others)),
        phase,
        session);
  }

  @Test
  void theHeaderNamesTheSessionWhereNothingElseIsSaid() {
    assertThat(read(RoutePhase.DECODE, null, Map.of(), Map.of(), "s"))
        .isEqualTo(RouteHints.NONE.ofSession("s"));
    assertThat(read(RoutePhase.DECODE, null, Map.of(), Map.of(), "")).isEqualTo(RouteHints.NONE);
    var context = Map.<String, Object>of("agent_context", Map.of("session_id", "t"));
    assertThat(read(RoutePhase.DECODE, null, Map.of(), context, "s").sessionId()).isEqualTo("t");
  }

  @Test
  void numbersBeyondAnIntAreTheNearestOne() {
    var big = BigInteger.TWO.pow(70);
    var hints =
        read(
            RoutePhase.DECODE,
            null,
            Map.of("strict_priority", big.negate(), "expected_output_tokens", 1L << 32));
    assertThat(hints.strictPriority()).isEqualTo(Integer.MIN_VALUE);
    assertThat(hints.expectedOutputTokens()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void noHintsAreNone() {
    assertThat(read(RoutePhase.DECODE, null, Map.of())).isSameAs(RouteHints.NONE);
  }

  @Test
  void hintsAreReadByDynamosNames() {
    var big = new BigInteger("17293822569102704641");
    var routing = new HashMap<String, Object>();
    routing.put("backend_instance_id", 1);
    routing.put("decode_worker_id", big);
    routing.put("prefill_worker_id", 3L);
    routing.put("prefill_dp_rank", 5);
    routing.put("expected_output_tokens", 100);
    routing.put("lora_name", "adapter-a");
    routing.put("cache_salt", "tenant-a");
    routing.put("priority_jump", 2.5);
    routing.put("strict_priority", 7);
    routing.put("allowed_worker_ids", List.of(1, big));
    routing.put(
        "routing_constraints",
        Map.of("required_taints", List.of("gpu"), "preferred_taints", Map.of("near", 0.5)));
    var others =
        Map.<String, Object>of(
            "router_config_override",
            Map.of("assume_kv_reuse", false, "overlap_score_credit", 0.5),
            "agent_context",
            Map.of("session_id", "s1"));

    var decode = read(RoutePhase.DECODE, 2, routing, others);
    assertThat(decode)
        .isEqualTo(
            new RouteHints(
                new InstanceId(big.longValue()),
                2,
                Set.of(new InstanceId(1), new InstanceId(big.longValue())),
                Set.of("gpu"),
                Map.of("near", 0.5),
                "adapter-a",
                "tenant-a",
                100,
                2.5,
                7,
                null,
                "s1",
                new RouteOverride(false, null)));
    var prefill = read(RoutePhase.PREFILL, 2, routing, others);
    assertThat(prefill.pinnedWorker()).isEqualTo(new InstanceId(3));
    assertThat(prefill.pinnedRank()).isEqualTo(5);
  }

  @Test
  void theGeneralPinStandsInForThatOfTheHalf() {
    var hints = read(RoutePhase.PREFILL, 4, Map.of("backend_instance_id", 9));
    assertThat(hints.pinnedWorker()).isEqualTo(new InstanceId(9));
    assertThat(hints.pinnedRank()).isEqualTo(4);
  }

  @Test
  void aPriorityBelowZeroIsNone() {
    assertThat(read(RoutePhase.DECODE, null, Map.of("priority", -3)).priorityJumpSeconds())
        .isZero();
  }

  @Test
  void invalidHintsAreRefused() {
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> read(RoutePhase.DECODE, 2, Map.of()))
        .withMessageContaining("without a worker");
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> read(RoutePhase.DECODE, null, Map.of("decode_worker_id", "one")));
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(
            () ->
                read(
                    RoutePhase.DECODE,
                    null,
                    Map.of(),
                    Map.of("router_config_override", Map.of("router_temperature", -1))));
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(
            () ->
                read(
                    RoutePhase.DECODE,
                    null,
                    Map.of(),
                    Map.of("agent_context", Map.of("session_id", "s".repeat(257)))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "overlap_score_credit",
        "prefill_load_scale",
        "router_temperature",
        "shared_cache_multiplier"
      })
  void anOverrideOutOfRangeIsRefused(String field) {
    for (double bad : new double[] {-0.1, Double.POSITIVE_INFINITY, Double.NaN}) {
      refused(field, bad);
    }
    var good = Map.<String, Object>of("router_config_override", Map.of(field, 1));
    assertThat(read(RoutePhase.DECODE, null, Map.of(), good)).isEqualTo(RouteHints.NONE);
  }

  @Test
  void nothingInTheSharedCacheIsWorthMoreThanOnTheDevice() {
    refused("shared_cache_multiplier", 1.1);
  }

  private static void refused(String field, double value) {
    var override = Map.<String, Object>of("router_config_override", Map.of(field, value));
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> read(RoutePhase.DECODE, null, Map.of(), override))
        .withMessageContaining(field);
  }
}
