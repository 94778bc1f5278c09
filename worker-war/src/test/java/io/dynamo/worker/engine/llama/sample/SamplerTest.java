package io.dynamo.worker.engine.llama.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests draws from a vocabulary of five. */
class SamplerTest {
  private static final float[] LOGITS = {
    0f, (float) Math.log(4), (float) Math.log(2), (float) Math.log(2), (float) Math.log(1)
  };
  private static final int DRAWS = 20_000;

  private static SamplingPlan plan(float temperature, int topK, float topP, float minP) {
    return new SamplingPlan(temperature, topK, topP, minP, 0f, 0f, 1f, 11, Map.of());
  }

  private static Sampler sampler(SamplingPlan plan, int[] prompt, @Nullable Integer alternatives) {
    return new Sampler(
        plan, 5, prompt, 0, alternatives, new int[] {1}, null, new Sampler.Scratch(5));
  }

  /** Returns how often each of the tokens was drawn, as a share. */
  private static double[] shares(SamplingPlan plan) {
    var sampler = sampler(plan, new int[0], null);
    var shares = new double[5];
    for (int i = 0; i < DRAWS; i++) {
      shares[sampler.next(LOGITS.clone(), 0, i, true)] += 1.0 / DRAWS;
    }
    return shares;
  }

  private static void assertShares(double[] shares, double... expected) {
    for (int id = 0; id < 5; id++) {
      assertThat(shares[id]).as("token %d", id).isCloseTo(expected[id], within(0.015));
    }
  }

  @Test
  void drawsFollowTheProbabilities() {
    assertShares(shares(plan(1f, 0, 1f, 0f)), 0.1, 0.4, 0.2, 0.2, 0.1);
  }

  @ParameterizedTest
  @CsvSource({"0,1", "1,1", "1,0.5"})
  void optionsThatLeaveNoTokenAreRefused(float temperature, float topP) {
    var all = new int[] {0, 1, 2, 3, 4};
    var plan = plan(temperature, 0, topP, 0f);
    var sampler = new Sampler(plan, 5, new int[0], 0, null, all, null, new Sampler.Scratch(5));
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> sampler.next(LOGITS.clone(), 0, 0, false))
        .withMessage("the options leave no token to draw");
    assertThat(sampler.next(LOGITS.clone(), 0, 0, true)).isBetween(0, 4);
  }

  @ParameterizedTest
  @ValueSource(floats = {0f, -1f, Float.POSITIVE_INFINITY, Float.NaN})
  void repetitionPenaltyOutOfBoundsIsRefused(float penalty) {
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> new SamplingPlan(1f, 0, 1f, 0f, 0f, 0f, penalty, 11, Map.of()))
        .withMessageContaining("repetition_penalty");
  }

  @Test
  void temperatureFlattensAndSharpens() {
    assertShares(shares(plan(0.5f, 0, 1f, 0f)), 1 / 26.0, 16 / 26.0, 4 / 26.0, 4 / 26.0, 1 / 26.0);
    var shares = shares(plan(100f, 0, 1f, 0f));
    assertShares(shares, 0.2, 0.2, 0.2, 0.2, 0.2);
  }

  @Test
  void topKKeepsTheLikeliestAndOfEqualsTheFirst() {
    assertShares(shares(plan(1f, 2, 1f, 0f)), 0, 4 / 6.0, 2 / 6.0, 0, 0);
  }

  @Test
  void topPKeepsTheFewestThatReachTheShare() {
    assertShares(shares(plan(1f, 0, 0.55f, 0f)), 0, 4 / 6.0, 2 / 6.0, 0, 0);
    assertShares(shares(plan(1f, 0, 0.39f, 0f)), 0, 1, 0, 0, 0);
    assertShares(shares(plan(1f, 0, 0f, 0f)), 0, 1, 0, 0, 0);
  }

  @Test
  void topPCountsWithinTopK() {
    assertShares(shares(plan(1f, 3, 0.7f, 0f)), 0, 4 / 6.0, 2 / 6.0, 0, 0);
  }

  @Test
  void minPKeepsWhatIsLikelyEnoughBesideTheLikeliest() {
    assertShares(shares(plan(1f, 0, 1f, 0.4f)), 0, 0.5, 0.25, 0.25, 0);
  }

  @Test
  void positionDecidesTheDrawNotWhatCameBefore() {
    var one = sampler(plan(1f, 0, 1f, 0f), new int[0], null);
    var two = sampler(plan(1f, 0, 1f, 0f), new int[0], null);
    for (int i = 0; i < 100; i++) {
      one.next(LOGITS.clone(), 0, i, true);
    }
    assertThat(one.next(LOGITS.clone(), 0, 500, true))
        .isEqualTo(two.next(LOGITS.clone(), 0, 500, true));
  }

  @Test
  void endIsForbiddenBeforeTheLeastLength() {
    var sampler = sampler(plan(0f, 0, 1f, 0f), new int[0], null);
    assertThat(sampler.next(LOGITS.clone(), 0, 0, false)).isEqualTo(2);
    assertThat(sampler.next(LOGITS.clone(), 0, 1, true)).isEqualTo(1);
  }

  @Test
  void repetitionCountsThePromptAndPresenceDoesNot() {
    var repetition = new SamplingPlan(0f, 0, 1f, 0f, 0f, 0f, 2f, 1, Map.of());
    var close = new float[] {0f, 3f, 2f, 1.9f, 0f};
    assertThat(sampler(repetition, new int[] {1}, null).next(close, 0, 0, true)).isEqualTo(2);
    var presence = new SamplingPlan(0f, 0, 1f, 0f, 0f, 1f, 1f, 1, Map.of());
    var sampler = sampler(presence, new int[] {1}, null);
    assertThat(sampler.next(LOGITS.clone(), 0, 0, true)).isEqualTo(1);
    assertThat(sampler.next(LOGITS.clone(), 0, 1, true)).isEqualTo(2);
  }

  @Test
  void frequencyPenaltyGrowsWithEachTime() {
    var plan = new SamplingPlan(0f, 0, 1f, 0f, 0.3f, 0f, 1f, 1, Map.of());
    var sampler = sampler(plan, new int[0], null);
    var drawn = new int[5];
    for (int i = 0; i < 7; i++) {
      drawn[sampler.next(LOGITS.clone(), 0, i, true)]++;
    }
    // ln 4 falls by 0.3 each time: three times above ln 2, then the tokens alternate
    assertThat(drawn).containsExactly(0, 4, 2, 1, 0);
  }

  @Test
  void logProbabilitiesAreTakenBeforeAnyOptionAndAddUp() {
    var plan = new SamplingPlan(0f, 1, 0.1f, 0f, 0f, 0f, 1f, 1, Map.of(0, 50f));
    var sampler = sampler(plan, new int[0], 2);
    assertThat(sampler.next(LOGITS.clone(), 0, 0, true)).isZero();
    var logprobs = Objects.requireNonNull(sampler.logprobs());
    assertThat(Objects.requireNonNull(logprobs.tokens())[0]).isCloseTo(Math.log(0.1), within(1e-6));
    assertThat(logprobs.top().getFirst().getFirst().tokenId()).isEqualTo(1);
    assertThat(logprobs.top().getFirst().get(1).tokenId()).as("first of equals").isEqualTo(2);
    sampler.next(LOGITS.clone(), 0, 1, true);
    assertThat(Objects.requireNonNull(sampler.logprobs()).cumulative())
        .isCloseTo(2 * Math.log(0.1), within(1e-6));
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.MIN_VALUE, 0.001f, 2.5f, Float.MAX_VALUE})
  void everyPositiveRepetitionPenaltyLeavesATokenToDraw(float penalty) {
    var plan = new SamplingPlan(1f, 0, 1f, 0f, 0f, 0f, penalty, 11, Map.of());
    var sampler = sampler(plan, new int[] {1, 3}, null);
    int token = sampler.next(new float[] {0f, 2f, -1f, -2f, 1f}, 0, 0, true);
    if (penalty < 1) {
      assertThat(token).as("the one that repeats is by far the likeliest").isEqualTo(1);
    }
    assertThat(token).as("made unlikely").isNotEqualTo(3);
  }
}
