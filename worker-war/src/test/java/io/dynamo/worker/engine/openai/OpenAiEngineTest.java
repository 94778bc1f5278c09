package io.dynamo.worker.engine.openai;

import static io.dynamo.worker.engine.openai.OpenAiEngineContractTest.VOCABULARY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.remote.RemoteEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OpenAiEngineTest {
  private static final String PROMPT = "<|im_start|>user\nWhat is ownership?<|im_end|>\n";
  private FakeOpenAi server;
  private RemoteEngine engine;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeOpenAi();
    engine = OpenAiEngineContractTest.engine(server.address(), null);
  }

  @AfterEach
  void stop() {
    engine.close();
    server.close();
  }

  private Collected run(GenerateRequest request) throws Exception {
    return Collected.all(engine.generate(request, Requests.context())).ended();
  }

  private static GenerateRequest prompt(int maxTokens) {
    return Requests.of(VOCABULARY.tokens(PROMPT), maxTokens);
  }

  @Test
  void theServerGetsTheTextOfThePromptAndItsTextComesBackAsTokens() throws Exception {
    engine.start(EngineContract.DEAF);
    var got = run(prompt(5));
    assertThat(got.failure()).isNull();
    assertThat(VOCABULARY.text(got.tokens())).isEqualTo(FakeOpenAi.text(PROMPT, 5));
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(server.request().members())
        .containsEntry("model", "first")
        .containsEntry("prompt", PROMPT)
        .containsEntry("max_tokens", 5)
        .containsEntry("stream", true)
        .doesNotContainKeys(
            "stop", "stop_token_ids", "ignore_eos", "temperature", "return_token_ids");
  }

  @Test
  void aTextGoesOnFromItsTokensAsIfUnbroken() throws Exception {
    engine.start(EngineContract.DEAF);
    var whole = VOCABULARY.text(run(prompt(9)).tokens());
    var first = run(prompt(4)).tokens();
    var rest = run(prompt(9).continuedBy(first)).tokens();
    assertThat(VOCABULARY.text(first) + VOCABULARY.text(rest)).isEqualTo(whole);
  }

  @Test
  void theCardSaysThatItsCacheIsUnknown() {
    var description = engine.start(EngineContract.DEAF);
    assertThat(description.tellsKvEvents()).isFalse();
    assertThat(description.contextLength()).as("of the model's own files").isEqualTo(4096);
    assertThat(description.blockTokens()).isEqualTo(16);
    assertThat(description.totalBlocks()).isEqualTo(1024);
    try (var other = OpenAiEngineContractTest.engine(server.address(), "second")) {
      assertThat(other.start(EngineContract.DEAF).contextLength()).isEqualTo(2048);
    }
  }

  @Test
  void aModelThatTheServerLacksEndsTheStart() {
    try (var other = OpenAiEngineContractTest.engine(server.address(), "third")) {
      assertThatThrownBy(() -> other.start(EngineContract.DEAF))
          .hasMessageContaining("it serves [first, second], dynamo.worker.remote.model is third");
    }
    server.completions = 404;
    assertThatThrownBy(() -> engine.start(EngineContract.DEAF))
        .hasMessageContaining("/v1/completions answers 404");
  }

  @Test
  void optionsOfTheApiAreSentAndOthersOnlyWhenTheyAreSet() throws Exception {
    engine.start(EngineContract.DEAF);
    var sampling = new SamplingOptions(1, 0.5f, 0.25f, 7, null, 0.5f, -0.5f, null, 99L);
    var stop = new StopConditions(2, List.of("x"), List.of(), 1, true);
    run(Requests.of(VOCABULARY.tokens("a"), stop, sampling, OutputOptions.DEFAULTS));
    assertThat(server.request().members())
        .containsEntry("temperature", 0.5)
        .containsEntry("top_p", 0.25)
        .containsEntry("top_k", 7)
        .containsEntry("frequency_penalty", 0.5)
        .containsEntry("presence_penalty", -0.5)
        .containsEntry("seed", 99)
        .containsEntry("ignore_eos", true)
        .containsEntry("min_tokens", 1)
        .doesNotContainKeys("stop", "min_p", "repetition_penalty");
  }

  @Test
  void aServerOfOpenAisOptionsAloneIsProbedWithoutOthers() throws Exception {
    server.strict = true;
    engine.start(EngineContract.DEAF);
    assertThat(run(endless(1)).failure()).isNull();
    assertThat(server.request().members()).doesNotContainKey("ignore_eos");
    assertRefused(endless(2), "ignore_eos");
  }

  private static GenerateRequest endless(int tokens) {
    var stop = new StopConditions(tokens, List.of(), List.of(), null, true);
    return Requests.of(new int[] {300}, stop, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS);
  }

  @Test
  void optionsThatNeedTokenIdsAreRefusedByName() {
    engine.start(EngineContract.DEAF);
    assertRefused(Requests.of(new int[] {300}, 1, 7), "stop_token_ids");
    var stop = new StopConditions(1, List.of(), List.of(), null, false);
    assertRefused(
        Requests.of(new int[] {300}, stop, SamplingOptions.DEFAULTS, new OutputOptions(2, null)),
        "logprobs");
    assertRefused(asked(PassedOn.of(Map.of("logit_bias", Map.of("5", 2))), null), "logit_bias");
    assertRefused(
        asked(PassedOn.NONE, new GuidedDecoding(null, "a", List.of(), null, null, null, null)),
        "guided_decoding");
  }

  private static GenerateRequest asked(PassedOn others, @Nullable GuidedDecoding form) {
    return Requests.of(
        new int[] {300},
        new StopConditions(1, List.of(), List.of(), null, false),
        new SamplingOptions(
            null, null, null, null, null, null, null, null, null, null, form, others),
        OutputOptions.DEFAULTS);
  }

  private void assertRefused(GenerateRequest request, String name) {
    assertThatThrownBy(() -> run(request))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(name);
  }

  @ParameterizedTest
  @EnumSource(names = {"CUT", "SHORT", "ABORT", "ERROR", "GARBAGE", "MORE"})
  void anAnswerThatBreaksLetsTheTextGoOnElsewhere(FakeOpenAi.Fault fault) throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = fault;
    var got = run(prompt(5));
    assertThat(got.failure()).isInstanceOf(Migratable.class);
    assertThat(VOCABULARY.text(got.tokens())).startsWith(FakeOpenAi.text(PROMPT, 2));
    assertThat(engine.running()).isZero();
  }

  @Test
  void aSilentServerLosesItsTexts() throws Exception {
    try (var impatient =
        OpenAiEngineContractTest.engine(server.address(), null, Duration.ofMillis(50))) {
      impatient.start(EngineContract.DEAF);
      server.fault = FakeOpenAi.Fault.HANG;
      var got = Collected.all(impatient.generate(prompt(5), Requests.context())).ended();
      assertThat(got.failure())
          .isInstanceOf(Migratable.class)
          .hasMessageContaining("dynamo.worker.remote.silence-timeout");
    }
  }

  @Test
  void theKeyIsSentAndARefusedOneEndsTheStartAtOnce() {
    server.wantedKey = "secret";
    engine.start(EngineContract.DEAF);
    server.wantedKey = "another";
    try (var other = OpenAiEngineContractTest.engine(server.address(), null)) {
      assertThatThrownBy(() -> other.start(EngineContract.DEAF))
          .hasMessageContaining("answers 401")
          .hasMessageContaining("dynamo.worker.remote.key-file");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BUSY", "UNAVAILABLE"})
  void aBusyServerIsNotABrokenOne(FakeOpenAi.Fault fault) throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = fault;
    assertThat(run(prompt(5)).failure())
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("slow down");
  }

  @Test
  void unsupportedOperationsAreRefused() {
    engine.start(EngineContract.DEAF);
    assertThatThrownBy(engine::clearCache).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> engine.loadAdapter("poet", Path.of("/tmp/poet")))
        .hasMessageContaining("load poet at the server");
    engine.unloadAdapter("poet");
  }
}
