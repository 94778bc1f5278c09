package io.dynamo.worker.engine.trtllm;

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
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.remote.RemoteEngine;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TrtllmEngineTest {
  private static final int[] PROMPT = {300, 337, 374};
  private FakeTrtllm server;
  private RemoteEngine engine;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeTrtllm();
    engine = TrtllmEngineContractTest.engine(server.address(), null);
  }

  @AfterEach
  void stop() {
    engine.close();
    server.close();
  }

  private Collected run(GenerateRequest request) throws Exception {
    return Collected.all(engine.generate(request, Requests.context())).ended();
  }

  private static StopConditions budget(int tokens) {
    return new StopConditions(tokens, List.of(), List.of(), null, false);
  }

  private static GenerateRequest guided(@Nullable GuidedDecoding form) {
    var sampling =
        new SamplingOptions(
            null, null, null, null, null, null, null, null, null, null, form, PassedOn.NONE);
    return Requests.of(PROMPT, budget(2), sampling, OutputOptions.DEFAULTS);
  }

  private static GenerateRequest with(
      OutputOptions output, RoutingHints routing, Map<String, Object> extra) {
    return new GenerateRequest(
        "m",
        PROMPT,
        budget(2),
        SamplingOptions.DEFAULTS,
        output,
        new int[0],
        null,
        List.of(),
        routing,
        extra);
  }

  @Test
  void theLimitsAreThoseOfTheStatisticsAndOfTheModel() {
    var found = engine.start(EngineContract.DEAF);
    assertThat(found.contextLength()).isEqualTo(4096);
    assertThat(found.blockTokens()).isEqualTo(4);
    assertThat(found.totalBlocks()).isEqualTo(500);
    assertThat(found.maxRunning()).isEqualTo(6);
    assertThat(found.ranks()).isEqualTo(1);
    assertThat(found.tellsKvEvents()).isTrue();
    assertThat(engine.serverMetrics()).isEqualTo("trtllm_request_success_total 3\n");
  }

  @Test
  void aServerWithoutStatisticsNeedsItsBlocksFromSettings() {
    server.statistics = "[]";
    assertThatThrownBy(() -> engine.start(EngineContract.DEAF))
        .hasMessageContaining("dynamo.worker.remote.block-tokens");
  }

  @Test
  void aBlockSizeThatIsNotTheServersIsRefused() {
    try (var wrong = TrtllmEngineContractTest.engine(server.address(), 32)) {
      assertThatThrownBy(() -> wrong.start(EngineContract.DEAF))
          .hasMessageContaining("it reports 4, dynamo.worker.remote.block-tokens is 32");
    }
  }

  @Test
  void aServerThatPublishesNothingIsRoutedToByLoad() {
    server.publishes = false;
    assertThat(engine.start(EngineContract.DEAF).tellsKvEvents()).isFalse();
  }

  @Test
  void tokensAreTheServersAndTheLastItemHasItsCounts() throws Exception {
    engine.start(EngineContract.DEAF);
    var got = run(Requests.of(PROMPT, 3));
    var prompt = List.of(300, 337, 374);
    assertThat(got.failure()).isNull();
    assertThat(got.tokens())
        .containsExactly(
            FakeTrtllm.token(prompt, 0), FakeTrtllm.token(prompt, 1), FakeTrtllm.token(prompt, 2));
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(Objects.requireNonNull(got.last().usage()).cachedTokens()).isEqualTo(2);
  }

  @Test
  void optionsReachTheServerUnderItsNames() throws Exception {
    engine.start(EngineContract.DEAF);
    var sampling =
        new SamplingOptions(
            null, 0.5f, 0.25f, -1, 0.125f, 0.5f, 0.75f, 1.5f, 42L, null, null, PassedOn.NONE);
    run(Requests.of(PROMPT, budget(2), sampling, OutputOptions.DEFAULTS));
    var sent = server.request().members();
    assertThat(sent)
        .containsEntry("prompt", List.of(300, 337, 374))
        .containsEntry("max_tokens", 2)
        .containsEntry("detokenize", false)
        .containsEntry("add_special_tokens", false)
        .containsEntry("top_k", 0)
        .doesNotContainKeys("logprobs", "response_format", "disaggregated_params");
    assertThat(sent.get("seed")).isEqualTo(42);
  }

  @Test
  void aTokensOwnLogProbabilityIsReadAndOthersAreRefused() throws Exception {
    engine.start(EngineContract.DEAF);
    var got = run(with(new OutputOptions(0, null), RoutingHints.NONE, Map.of()));
    assertThat(got.failure()).isNull();
    assertThat(Objects.requireNonNull(got.items().getFirst().logprobs()).tokens())
        .containsExactly(-0.5);
    assertThatThrownBy(() -> run(with(new OutputOptions(3, null), RoutingHints.NONE, Map.of())))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("top_logprobs");
  }

  @Test
  void aGuidedChoiceBecomesAnExpression() throws Exception {
    engine.start(EngineContract.DEAF);
    run(guided(new GuidedDecoding(null, null, List.of("a.b", "c"), null, null, null, null)));
    assertThat(server.request().object("response_format").members())
        .containsEntry("type", "regex")
        .containsEntry("regex", "(a\\.b|c)");
    run(
        guided(
            new GuidedDecoding("{\"type\":\"object\"}", null, List.of(), null, null, null, null)));
    assertThat(server.request().object("response_format").members())
        .containsEntry("type", "json")
        .containsEntry("schema", Map.of("type", "object"));
  }

  @Test
  void aContextPhaseIsNotStreamedAndItsParametersComeBack() throws Exception {
    engine.start(EngineContract.DEAF);
    var got =
        run(
            with(
                OutputOptions.DEFAULTS,
                RoutingHints.NONE,
                Map.of("disaggregated_params", Map.of("request_type", "context_only"))));
    assertThat(server.request().members()).doesNotContainKey("stream");
    assertThat(got.tokens()).containsExactly(11);
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(got.last().passedOn().get("disaggregated_params"))
        .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
        .containsEntry("encoded_opaque_state", "b64");
  }

  @ParameterizedTest
  @EnumSource(names = {"CUT", "GARBAGE", "TIMEOUT", "ERROR"})
  void anAnswerThatBreaksLetsTheTextGoOnElsewhereWithItsTokens(FakeTrtllm.Fault fault)
      throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = fault;
    var got = run(Requests.of(PROMPT, 5));
    assertThat(got.failure()).isInstanceOf(Migratable.class);
    assertThat(got.tokens()).hasSize(2);
  }

  @Test
  void aBusyServerIsNotABrokenOne() throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = FakeTrtllm.Fault.UNAVAILABLE;
    assertThat(run(Requests.of(PROMPT, 5)).failure()).isInstanceOf(WorkerBusyException.class);
  }

  @Test
  void unsupportedOperationsAreRefused() {
    engine.start(EngineContract.DEAF);
    assertThatThrownBy(() -> engine.clearCache()).hasMessageContaining("no call that clears");
    assertThatThrownBy(() -> engine.loadAdapter("a", java.nio.file.Path.of("/a")))
        .hasMessageContaining("no call that loads");
  }
}
