package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.LocalPrefill;
import io.dynamo.config.router.RouterSettings.LocalPrefillPolicy;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteHints;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which prompts decode workers compute themselves. */
class LocalPrefillTest extends RouterHarness {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);

  private static LocalPrefillRule rule(LocalPrefillPolicy policy, @Nullable Double decodeBusy) {
    return new LocalPrefillRule(new LocalPrefill(policy, 2048, 0.7, 2, decodeBusy));
  }

  private static LoadPreview cached(long tokens) {
    return new LoadPreview(RANK, tokens, 0, 1000, 10, 100);
  }

  private static LoadPreview booked(long prefillTokens) {
    return new LoadPreview(RANK, 0, prefillTokens, 1000, 10, 100);
  }

  @ParameterizedTest
  @CsvSource({
    "1000, 896, true", // little is left
    "200, 0, false", // it is all of the prompt
    "1000, 300, false", // exactly 0.7 of it
    "1000, 301, true",
    "100000, 64000, false", // much is left
    "10000, 7952, false", // exactly 2048
    "10000, 7953, true",
    "500, 640, true", // more cached than the prompt has
  })
  void littleIsLeftWhenBothBoundsAreKept(long prompt, long cached, boolean local) {
    assertThat(
            rule(LocalPrefillPolicy.ISL_BOUNDING, null)
                .computesLocally(prompt, cached(cached), () -> null))
        .isEqualTo(local);
  }

  @Test
  void aBusyPrefillWorkerIsSpared() {
    var rule = rule(LocalPrefillPolicy.PREFILL_LOAD, null);
    assertThat(rule.computesLocally(5000, cached(0), () -> booked(2000))).isFalse();
    assertThat(rule.computesLocally(5000, cached(0), () -> booked(2001))).isTrue();
    assertThat(rule.computesLocally(5000, cached(0), () -> null)).as("unknown").isFalse();
    assertThat(rule.computesLocally(100, cached(99), () -> booked(0))).isFalse();
  }

  @Test
  void eitherReasonSuffices() {
    var rule = rule(LocalPrefillPolicy.ISL_OR_LOAD, null);
    assertThat(rule.computesLocally(100, cached(99), () -> booked(0))).isTrue();
    assertThat(rule.computesLocally(5000, cached(0), () -> booked(2001))).isTrue();
    assertThat(rule.computesLocally(5000, cached(0), () -> booked(0))).isFalse();
  }

  @Test
  void aDecodeWorkerThatIsNotKnownToHaveRoomComputesNoPrompt() {
    assertThat(
            rule(LocalPrefillPolicy.ISL_BOUNDING, 0.1).computesLocally(100, cached(99), () -> null))
        .isTrue();
    assertThat(
            rule(LocalPrefillPolicy.ISL_BOUNDING, 0.09)
                .computesLocally(100, cached(99), () -> null))
        .isFalse();
    var unknown = new LoadPreview(RANK, 99, 0, 1000, 10, 0);
    assertThat(rule(LocalPrefillPolicy.ISL_BOUNDING, 0.9).computesLocally(100, unknown, () -> null))
        .isFalse();
  }

  @Test
  void theRouterNamesTheRankThatHasThePromptAndBooksNothing() {
    workers.set(1, 2);
    traits.put(2L, new WorkerTraits(RankRange.ONE, 0, 100, Set.of(), Set.of()));
    var settings =
        RouterSettings.of(RouterSettings.Mode.KV)
            .with(new LocalPrefill(LocalPrefillPolicy.ISL_BOUNDING, 2048, 0.7, 4, 0.5));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      var asked = request(prompt(0, 8), RouteHints.NONE);
      assertThat(router.localPrefill(asked, asked)).isNull();
      stored(2, 0, 1, prompt(0, 8));

      assertThat(router.localPrefill(asked, asked)).isEqualTo(new WorkerRank(new InstanceId(2), 0));

      assertThat(router.prefillTokens(ENDPOINT, new WorkerRank(new InstanceId(2), 0))).isZero();
      assertThat(router.recent(10)).isEmpty();
      assertThat(router.localPrefill(request(prompt(0, 8), RouteHints.NONE, 2), asked))
          .as("the rank that has it failed the request")
          .isNull();
    }
  }

  @Test
  void withoutWorkersNothingIsDecided() {
    workers.set();
    var settings =
        RouterSettings.of(RouterSettings.Mode.KV)
            .with(new LocalPrefill(LocalPrefillPolicy.ISL_OR_LOAD, 2048, 0.7, 4, null));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      var asked = request(prompt(0, 8), RouteHints.NONE);
      assertThat(router.localPrefill(asked, asked)).isNull();
    }
  }
}
