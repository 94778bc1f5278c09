package io.dynamo.worker.engine.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.StopReason;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.llama.TinyModel.Golden;
import io.dynamo.worker.engine.llama.math.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the options of a request, on the real model. */
class LlamaOptionsTest {
  private static final Golden CAPITAL =
      TinyModel.golden().stream().filter(g -> g.name().equals("capital")).findFirst().orElseThrow();
  private static final StopConditions TWENTY =
      new StopConditions(20, List.of(), List.of(), null, true);

  private final ManualPacer time = new ManualPacer();
  private final LlamaEngine engine =
      new LlamaEngine(
          new LlamaEngineConfig(1, 8, 8, 16, 256, 64, 4096),
          TinyModel.model(Kernels.best()),
          new HeapMemory(),
          time,
          () -> 42);

  @BeforeEach
  void start() {
    engine.start(EngineContract.DEAF);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private Collected run(StopConditions stop, SamplingOptions sampling, OutputOptions output) {
    return run(Requests.of(CAPITAL.prompt(), stop, sampling, output));
  }

  private Collected run(GenerateRequest request) {
    var got = Collected.all(engine.generate(request, Requests.context()));
    time.settle();
    assertThat(got.isEnded()).isTrue();
    return got;
  }

  private int[] sampled(SamplingOptions sampling) {
    return run(TWENTY, sampling, OutputOptions.DEFAULTS).tokens();
  }

  private static SamplingOptions seeded(long seed, float temperature) {
    return new SamplingOptions(null, temperature, null, null, null, null, null, null, seed);
  }

  @Test
  void sameSeedDrawsTheSameAndAnotherOneNot() {
    var first = sampled(seeded(7, 1.5f));
    assertThat(sampled(seeded(7, 1.5f))).isEqualTo(first);
    assertThat(sampled(seeded(8, 1.5f))).isNotEqualTo(first);
    assertThat(first).isNotEqualTo(Arrays.copyOf(CAPITAL.output(), 20));
  }

  @Test
  void sampledTextThatGoesOnElsewhereIsTheUnbrokenOne() {
    var request = Requests.of(CAPITAL.prompt(), TWENTY, seeded(7, 1.5f), OutputOptions.DEFAULTS);
    var whole = run(request).tokens();
    for (int delivered : new int[] {1, 7, 19}) {
      var rest = run(request.continuedBy(Arrays.copyOf(whole, delivered))).tokens();
      assertThat(rest).isEqualTo(Arrays.copyOfRange(whole, delivered, 20));
    }
  }

  @Test
  void penaltiesRememberWhatAnotherWorkerGenerated() {
    var penalties = new SamplingOptions(null, null, null, null, null, 0.9f, 0.7f, 1.1f, null);
    var request = Requests.of(CAPITAL.prompt(), TWENTY, penalties, OutputOptions.DEFAULTS);
    var whole = run(request).tokens();
    for (int delivered : new int[] {1, 7, 19}) {
      var rest = run(request.continuedBy(Arrays.copyOf(whole, delivered))).tokens();
      assertThat(rest).isEqualTo(Arrays.copyOfRange(whole, delivered, 20));
    }
    assertThat(whole).as("they change the text").isNotEqualTo(sampled(SamplingOptions.DEFAULTS));
  }

  @Test
  void theSmallestPenaltyThatTheApiTakesIsServed() {
    for (float repetition : new float[] {Float.MIN_VALUE, 0.005f}) {
      var tokens =
          sampled(new SamplingOptions(null, 1f, null, null, null, null, null, repetition, 1L));
      assertThat(tokens).hasSize(20);
      assertThat(CAPITAL.prompt()).as("what was there comes again").contains(tokens);
    }
  }

  @Test
  void batchDoesNotChangeADraw() {
    var alone = sampled(seeded(7, 1.5f));
    var all = new ArrayList<Collected>();
    for (int i = 0; i < 8; i++) {
      var request = Requests.of(CAPITAL.prompt(), TWENTY, seeded(i, 1.5f), OutputOptions.DEFAULTS);
      all.add(Collected.all(engine.generate(request, Requests.context())));
    }
    time.settle();
    assertThat(all.get(7).tokens()).isEqualTo(alone);
  }

  @Test
  void narrowSamplingIsGreedy() {
    var greedy = sampled(SamplingOptions.DEFAULTS);
    assertThat(sampled(new SamplingOptions(null, 2f, null, 1, null, null, null, null, 3L)))
        .isEqualTo(greedy);
    assertThat(sampled(new SamplingOptions(null, 2f, 1e-6f, null, null, null, null, null, 3L)))
        .isEqualTo(greedy);
    assertThat(sampled(new SamplingOptions(null, 2f, null, null, 1f, null, null, null, 3L)))
        .isEqualTo(greedy);
  }

  @Test
  void presencePenaltyKeepsTokensFromComingTwice() {
    var free = sampled(SamplingOptions.DEFAULTS);
    assertThat(new HashSet<>(Arrays.stream(free).boxed().toList())).hasSizeLessThan(20);
    var penalized = sampled(new SamplingOptions(null, null, null, null, null, 2f, 2f, 2f, null));
    assertThat(new HashSet<>(Arrays.stream(penalized).boxed().toList())).hasSize(20);
  }

  @Test
  void biasForbidsAndForces() {
    int first = CAPITAL.output()[0];
    var forbid = biased(Map.of(Integer.toString(first), -100));
    assertThat(sampled(forbid)).doesNotContain(first);
    assertThat(sampled(biased(Map.of("1234", 100)))).containsOnly(1234);
    assertThatThrownBy(() -> sampled(biased(Map.of("4096", 1))))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("4096");
  }

  private static SamplingOptions biased(Map<String, Object> bias) {
    return new SamplingOptions(
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        PassedOn.of(Map.of("logit_bias", bias)));
  }

  @Test
  void textEndsAtTheModelsEndUnlessToldNotTo() {
    var natural = new StopConditions(30, List.of(), List.of(), null, false);
    var got = run(natural, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS);
    assertThat(got.tokens()).isEqualTo(CAPITAL.output());
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.EOS);
    var on = run(TWENTY, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS);
    assertThat(on.tokens()).hasSize(20).startsWith(CAPITAL.output());
    assertThat(on.last().finishReason()).isEqualTo(FinishReason.LENGTH);
  }

  @Test
  void stopTokenIsTheLastAndIsNamed() {
    int stop = CAPITAL.output()[4];
    var conditions = new StopConditions(30, List.of(), List.of(stop), null, false);
    var got = run(conditions, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS);
    assertThat(got.tokens()).endsWith(stop).hasSizeLessThan(6);
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.STOP);
    assertThat(got.last().stopReason()).isEqualTo(new StopReason.Token(stop));
  }

  @Test
  void leastTokensKeepTheEndAway() {
    int natural = CAPITAL.output().length;
    var conditions = new StopConditions(40, List.of(), List.of(), natural + 5, false);
    var got = run(conditions, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS);
    assertThat(got.tokens().length).isGreaterThan(natural + 5);
    assertThat(Arrays.copyOf(got.tokens(), natural + 5)).doesNotContain(TinyModel.EOS);
  }

  @Test
  void logProbabilitiesAreThoseOfTheModel() {
    var got = run(TWENTY, SamplingOptions.DEFAULTS, new OutputOptions(3, null));
    double sum = 0;
    for (var item : got.items()) {
      var logprobs = Objects.requireNonNull(item.logprobs());
      var tokens = Objects.requireNonNull(logprobs.tokens());
      var top = logprobs.top().getFirst();
      assertThat(tokens).hasSize(1);
      assertThat(top).hasSize(3);
      assertThat(top.getFirst().tokenId()).as("greedy").isEqualTo(item.tokenIds()[0]);
      assertThat(top.getFirst().logprob()).isEqualTo(tokens[0]).isNegative();
      assertThat(top.get(1).logprob()).isLessThanOrEqualTo(tokens[0]);
      assertThat(top.get(2).rank()).isEqualTo(3);
      sum += tokens[0];
      assertThat(logprobs.cumulative()).isEqualTo(sum);
    }
  }

  @Test
  void withoutAlternativesOnlyTheTokensOwnIsTold() {
    var got = run(TWENTY, seeded(3, 2f), new OutputOptions(0, null));
    var logprobs = Objects.requireNonNull(got.items().getFirst().logprobs());
    assertThat(logprobs.tokens()).hasSize(1);
    assertThat(logprobs.top().getFirst()).isEmpty();
  }

  @Test
  void guidedTextIsOneOfItsChoices() throws Exception {
    for (long seed = 1; seed <= 20; seed++) {
      var choices = List.of("Berlin", "Paris", "Paris, France", "Rom\u00e9o");
      var got = run(guided(seeded(seed, 5f), choices));
      assertThat(choices).contains(TinyModel.text(got.tokens()));
      assertThat(got.last().finishReason()).isIn(FinishReason.STOP, FinishReason.EOS);
    }
  }

  private static GenerateRequest guided(SamplingOptions with, List<String> choices) {
    var guided = new GuidedDecoding(null, null, choices, null, null, null, null);
    var sampling =
        new SamplingOptions(
            null,
            with.temperature(),
            null,
            null,
            null,
            null,
            null,
            null,
            with.seed(),
            null,
            guided,
            PassedOn.NONE);
    var stop = new StopConditions(50, List.of(), List.of(), null, false);
    return Requests.of(CAPITAL.prompt(), stop, sampling, OutputOptions.DEFAULTS);
  }

  @Test
  void guideTakesTheLikeliestChoice() throws Exception {
    var got = run(guided(SamplingOptions.DEFAULTS, List.of("A dog", "The capital of France")));
    assertThat(TinyModel.text(got.tokens())).isEqualTo("The capital of France");
  }

  @Test
  void unsupportedOptionsAreRefused() {
    refused(new SamplingOptions(2, null, null, null, null, null, null, null, null), null, "n is 2");
    refused(seeded(1, -1f), null, "temperature");
    refused(seeded(1, Float.NaN), null, "temperature");
    refused(new SamplingOptions(null, 1f, 2f, null, null, null, null, null, 1L), null, "top_p");
    refused(SamplingOptions.DEFAULTS, new OutputOptions(21, null), "logprobs 21");
    refused(SamplingOptions.DEFAULTS, new OutputOptions(null, 1, null, null, null), "prompts");
    var regex = new GuidedDecoding(null, "a+", List.of(), null, null, null, null);
    refused(
        new SamplingOptions(
            null, null, null, null, null, null, null, null, null, null, regex, PassedOn.NONE),
        null,
        "choices");
  }

  private void refused(SamplingOptions sampling, @Nullable OutputOptions output, String what) {
    assertThatThrownBy(
            () -> run(TWENTY, sampling, output == null ? OutputOptions.DEFAULTS : output))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(what);
  }
}
