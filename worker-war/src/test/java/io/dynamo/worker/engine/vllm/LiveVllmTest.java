package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.StopReason;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.remote.RemoteEngine;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares a real vLLM with the tokens that PyTorch computes for the model that ships along. */
class LiveVllmTest {
  private static final int[] QUESTION = {4088, 333, 198, 529, 220, 275}; // an unfinished turn
  private static final Duration PATIENCE = Duration.ofMinutes(1); // a first use compiles
  private RemoteEngine engine;

  @BeforeEach
  void start() {
    engine = LiveVllm.engine();
    engine.start(EngineContract.DEAF);
  }

  @AfterEach
  void stop() {
    if (engine != null) {
      engine.close();
    }
  }

  private static SamplingOptions greedy(@Nullable GuidedDecoding form, PassedOn others) {
    return new SamplingOptions(
        null, 0f, null, null, null, null, null, null, null, null, form, others);
  }

  private static StopConditions budget(int tokens, Integer... stops) {
    return new StopConditions(tokens, List.of(), List.of(stops), null, false);
  }

  private Collected run(GenerateRequest request) throws Exception {
    return Collected.all(engine.generate(request, Requests.context())).ended(PATIENCE);
  }

  private Collected run(int[] prompt, StopConditions stop, @Nullable Integer logprobs)
      throws Exception {
    return run(
        Requests.of(prompt, stop, greedy(null, PassedOn.NONE), new OutputOptions(logprobs, null)));
  }

  @Test
  void goldenPromptsGiveThePyTorchTokens() throws Exception {
    for (var golden : TinyModel.golden()) {
      var got = run(golden.prompt(), budget(golden.output().length), null);
      assertThat(got.failure()).as(golden.name()).isNull();
      assertThat(got.tokens()).as(golden.name()).isEqualTo(golden.output());
      boolean ended = golden.output()[golden.output().length - 1] == TinyModel.EOS;
      assertThat(got.last().finishReason())
          .as(golden.name())
          .isEqualTo(ended ? FinishReason.EOS : FinishReason.LENGTH);
    }
  }

  @Test
  void aTextThatGoesOnHereIsThatOfAnUnbrokenRun() throws Exception {
    var golden = TinyModel.golden().getFirst();
    var request =
        Requests.of(
            golden.prompt(),
            budget(golden.output().length),
            greedy(null, PassedOn.NONE),
            OutputOptions.DEFAULTS);
    int half = golden.output().length / 2;
    var rest = run(request.continuedBy(Arrays.copyOf(golden.output(), half)));
    assertThat(rest.tokens())
        .isEqualTo(Arrays.copyOfRange(golden.output(), half, golden.output().length));
  }

  @Test
  void aStopTokenOfTheClientEndsTheText() throws Exception {
    var golden = TinyModel.golden().getFirst();
    int third = golden.output()[2];
    var got = run(golden.prompt(), budget(40, third), null);
    assertThat(got.tokens()).isEqualTo(Arrays.copyOf(golden.output(), 3));
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.STOP);
    assertThat(got.last().stopReason()).isEqualTo(new StopReason.Token(third));
  }

  @Test
  void logProbabilitiesAreThoseOfTheGreedyTokens() throws Exception {
    var got = run(QUESTION, budget(5), 3);
    double sum = 0;
    for (var item : got.items()) {
      Logprobs rated = Objects.requireNonNull(item.logprobs());
      var each = Objects.requireNonNull(rated.tokens());
      assertThat(each).hasSameSizeAs(item.tokenIds());
      for (int i = 0; i < each.length; i++) {
        sum += each[i];
        assertThat(rated.top().get(i)).hasSize(3);
        assertThat(rated.top().get(i).getFirst().tokenId()).isEqualTo(item.tokenIds()[i]);
        assertThat(rated.top().get(i).getFirst().logprob()).isEqualTo(each[i]);
      }
      assertThat(Objects.requireNonNull(rated.cumulative())).isCloseTo(sum, within(1e-9));
    }
    assertThat(got.tokens()).hasSize(5);
  }

  @Test
  void likelyTokensDoNotDependOnTheDrawnOne() throws Exception {
    var likely = Objects.requireNonNull(run(QUESTION, budget(1), 2).items().getFirst().logprobs());
    var expected = likely.top().getFirst();
    assertThat(expected).extracting(top -> top.rank()).containsExactly(1, 2);
    boolean unlikely = false;
    for (long seed = 0; seed < 40; seed++) {
      var sampling =
          new SamplingOptions(
              null, 2f, null, null, null, null, null, null, seed, null, null, PassedOn.NONE);
      var got = run(Requests.of(QUESTION, budget(1), sampling, new OutputOptions(2, null)));
      var rated = Objects.requireNonNull(got.items().getFirst().logprobs());
      var top = rated.top().getFirst();
      for (int i = 0; i < 2; i++) {
        assertThat(top.get(i).tokenId()).isEqualTo(expected.get(i).tokenId());
        assertThat(top.get(i).rank()).isEqualTo(i + 1);
        assertThat(top.get(i).logprob()).isCloseTo(expected.get(i).logprob(), within(1e-4));
      }
      assertThat(top).hasSize(2);
      int drawn = got.tokens()[0];
      unlikely |= top.stream().noneMatch(one -> one.tokenId() == drawn);
    }
    assertThat(unlikely).as("a token was drawn that is not among the likeliest").isTrue();
  }

  @Test
  void aGuidedTextIsOneOfItsChoices() throws Exception {
    var choice = new GuidedDecoding(null, null, List.of("Rome", "Berlin"), null, null, null, null);
    var got =
        run(
            Requests.of(
                QUESTION, budget(20), greedy(choice, PassedOn.NONE), OutputOptions.DEFAULTS));
    assertThat(got.failure()).isNull();
    var tokens = got.tokens();
    int end = tokens[tokens.length - 1] == TinyModel.EOS ? 1 : 0;
    assertThat(TinyModel.text(Arrays.copyOf(tokens, tokens.length - end))).isIn("Rome", "Berlin");
  }

  @Test
  void aBiasForbidsAToken() throws Exception {
    int first = run(QUESTION, budget(1), null).tokens()[0];
    var bias = PassedOn.of(Map.of("logit_bias", Map.of(Integer.toString(first), -100)));
    var got = run(Requests.of(QUESTION, budget(1), greedy(null, bias), OutputOptions.DEFAULTS));
    assertThat(got.tokens()[0]).isNotEqualTo(first);
  }

  @Test
  void aGrammarThatCannotBeReadIsTheRequestersFault() throws Exception {
    var broken = new GuidedDecoding(null, "(", List.of(), null, null, null, null);
    var got =
        run(
            Requests.of(
                QUESTION, budget(4), greedy(broken, PassedOn.NONE), OutputOptions.DEFAULTS));
    assertThat(got.failure()).isInstanceOf(InvalidRequestException.class);
  }

  @Test
  void aRepeatedPromptIsFoundInTheCacheUntilItIsCleared() throws Exception {
    engine.clearCache();
    var prompt = Requests.prompt(1000, 200);
    assertThat(cached(prompt)).isZero();
    assertThat(cached(prompt)).isEqualTo(192);
    engine.clearCache();
    assertThat(cached(prompt)).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aServerThatSleptAnswersAsBefore(boolean weightsToo) throws Exception {
    engine.releaseMemory(weightsToo);
    engine.close();
    var http = HttpClient.newHttpClient();
    var asking = HttpRequest.newBuilder(LiveVllm.address().resolve("/is_sleeping")).build();
    assertThat(http.send(asking, BodyHandlers.ofString()).body()).contains("true");
    start();
    assertThat(http.send(asking, BodyHandlers.ofString()).body()).contains("false");
    var golden = TinyModel.golden().getFirst();
    var got = run(golden.prompt(), budget(golden.output().length), null);
    assertThat(got.tokens()).isEqualTo(golden.output());
  }

  private int cached(int[] prompt) throws Exception {
    var usage = Objects.requireNonNull(run(prompt, budget(1), null).last().usage());
    return Objects.requireNonNull(usage.cachedTokens());
  }
}
