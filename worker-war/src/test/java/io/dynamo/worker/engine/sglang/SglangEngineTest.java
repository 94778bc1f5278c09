package io.dynamo.worker.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.model.RenderedSample;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.KvEventEndpoint;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SglangEngineTest {
  private static final int[] PROMPT = {300, 337, 374};
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private final List<List<KvEventEndpoint>> followed = new ArrayList<>();
  private FakeSglang server;
  private RemoteEngine engine;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeSglang();
    engine =
        SglangEngineContractTest.engine(
            server.address(),
            LIMIT,
            (endpoints, _) -> {
              followed.add(endpoints);
              return () -> {};
            });
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

  private static GenerateRequest asked(SamplingOptions sampling) {
    return Requests.of(PROMPT, budget(1), sampling, OutputOptions.DEFAULTS);
  }

  private static SamplingOptions guided(
      @Nullable Object json,
      @Nullable String regex,
      List<String> choice,
      @Nullable String backend,
      @Nullable String whitespace) {
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
        new GuidedDecoding(json, regex, choice, null, backend, whitespace, null),
        PassedOn.NONE);
  }

  @Test
  void theLimitsAreThoseThatTheServerReports() {
    var description = engine.start(EngineContract.DEAF);
    assertThat(description.contextLength()).isEqualTo(4096);
    assertThat(description.blockTokens()).isEqualTo(16);
    assertThat(description.totalBlocks()).isEqualTo(1024);
    assertThat(description.ranks()).isEqualTo(1);
    assertThat(description.maxRunning()).as("as the setting, the server does not say").isEqualTo(4);
    assertThat(description.tellsKvEvents()).isTrue();
    assertThat(followed.getFirst())
        .containsExactly(new KvEventEndpoint("tcp://127.0.0.1:18360", null));
  }

  @Test
  void theServersTokensOfATextAreReportedWhereItGivesThem() {
    server.ids = "{\"tokens\":[5,6],\"count\":2,\"max_model_len\":4096}";
    engine.start(EngineContract.DEAF);
    assertThat(engine.renderedSample()).isEqualTo(RenderedSample.ofText(List.of(5, 6)));
  }

  @Test
  void aServerThatGivesNoTokensOfATextIsUsedAllTheSame() throws Exception {
    engine.start(EngineContract.DEAF);
    assertThat(engine.renderedSample()).isNull();
    assertThat(run(Requests.of(PROMPT, 1)).tokens()).hasSize(1);
  }

  @Test
  void eachRankPublishesItsEventsAtThePortBehind() {
    server.info =
        server
            .info
            .replace("\"dp_size\": 1", "\"dp_size\": 2, \"max_running_requests\": 7")
            .replace(
                "\\\"topic\\\"", "\\\"replay_endpoint\\\":\\\"tcp://*:18400\\\",\\\"topic\\\"");
    var description = engine.start(EngineContract.DEAF);
    assertThat(description.ranks()).isEqualTo(2);
    assertThat(description.maxRunning()).isEqualTo(7);
    assertThat(followed.getFirst())
        .containsExactly(
            new KvEventEndpoint("tcp://127.0.0.1:18360", "tcp://127.0.0.1:18400"),
            new KvEventEndpoint("tcp://127.0.0.1:18361", "tcp://127.0.0.1:18401"));
  }

  @Test
  void aServerWhoseEventsCannotBeFollowedIsServedWithoutThem() {
    server.info = server.info.replace("tcp://*:18360", "ipc:///tmp/events");
    assertThat(engine.start(EngineContract.DEAF).tellsKvEvents()).isFalse();
    assertThat(followed).isEmpty();
  }

  @Test
  void tokensAreTheServersInBothFormsOfAnswers() throws Exception {
    engine.start(EngineContract.DEAF);
    var prompt = List.of(300, 337, 374);
    for (boolean incremental : new boolean[] {false, true}) {
      server.incremental = incremental;
      var got = run(Requests.of(PROMPT, 4));
      assertThat(got.failure()).isNull();
      assertThat(got.tokens())
          .containsExactly(
              FakeSglang.token(prompt, 0),
              FakeSglang.token(prompt, 1),
              FakeSglang.token(prompt, 2),
              FakeSglang.token(prompt, 3));
      assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
      assertThat(Objects.requireNonNull(got.last().usage()).cachedTokens()).isEqualTo(2);
    }
    assertThat(server.hasAborted()).as("texts that ended").isFalse();
  }

  @Test
  void everyOptionReachesTheServerUnderItsName() throws Exception {
    server.info =
        server.info.replace(
            "\"dp_size\": 1", "\"dp_size\": 2, \"enable_priority_scheduling\": true");
    engine.start(EngineContract.DEAF);
    var sampling =
        new SamplingOptions(
            1,
            0.5f,
            0.25f,
            7,
            0.125f,
            0.5f,
            -0.5f,
            1.5f,
            99L,
            null,
            null,
            PassedOn.of(Map.of("logit_bias", Map.of("5", 2))));
    var stop =
        new StopConditions(4, List.of("x"), List.of(11), List.of(12), List.of(13), 2, false, null);
    var routing =
        new RoutingHints(
            1, PassedOn.of(Map.of("cache_salt", "tenant-a", "lora_name", "poet", "priority", 3)));
    run(
        Requests.of(PROMPT, stop, sampling, new OutputOptions(2, null))
            .routedTo(routing)
            .withHandoff(new Handoff(null, new Handoff.Bootstrap("10.0.0.1", 8998, 5, null))));
    var body = server.request();
    assertThat(body.members())
        .containsEntry("input_ids", List.of(300, 337, 374))
        .containsEntry("stream", true)
        .containsEntry("return_logprob", true)
        .containsEntry("top_logprobs_num", 2)
        .containsEntry("lora_path", "poet")
        .containsEntry("extra_key", "tenant-a")
        .containsEntry("routed_dp_rank", 1)
        .containsEntry("data_parallel_rank", 1)
        .containsEntry("priority", 3)
        .containsEntry("bootstrap_host", "10.0.0.1")
        .containsEntry("bootstrap_port", 8998)
        .containsEntry("bootstrap_room", 5)
        .containsKey("rid");
    var params = body.object("sampling_params");
    assertThat(params.members())
        .containsEntry("max_new_tokens", 4)
        .containsEntry("min_new_tokens", 2)
        .containsEntry("temperature", 0.5)
        .containsEntry("top_p", 0.25)
        .containsEntry("top_k", 7)
        .containsEntry("min_p", 0.125)
        .containsEntry("frequency_penalty", 0.5)
        .containsEntry("presence_penalty", -0.5)
        .containsEntry("repetition_penalty", 1.5)
        .containsEntry("sampling_seed", 99)
        .containsEntry("stop_token_ids", List.of(11, 12, 13))
        .containsEntry("ignore_eos", false)
        .doesNotContainKeys("stop", "n");
    assertThat(params.object("logit_bias").members()).containsEntry("5", 2.0);
  }

  @Test
  void prioritiesAreLeftOutWhereTheServerHasNone() throws Exception {
    engine.start(EngineContract.DEAF);
    run(
        Requests.of(PROMPT, 1)
            .routedTo(new RoutingHints(null, PassedOn.of(Map.of("priority", 3)))));
    assertThat(server.request().members())
        .doesNotContainKeys(
            "priority", "routed_dp_rank", "data_parallel_rank", "extra_key", "lora_path");
  }

  @Test
  void formsAreGuidedByTheirNames() throws Exception {
    engine.start(EngineContract.DEAF);
    run(asked(guided(Map.of("type", "object"), null, List.of(), null, null)));
    assertThat(server.request().object("sampling_params").members())
        .containsEntry("json_schema", "{\"type\":\"object\"}");
    run(asked(guided(null, "a+", List.of(), "auto", null)));
    assertThat(server.request().object("sampling_params").members()).containsEntry("regex", "a+");
    run(asked(guided(null, null, List.of("a", "b.c"), null, null)));
    assertThat(server.request().object("sampling_params").members())
        .containsEntry("regex", "(a|b\\.c)");
  }

  @Test
  void optionsThatTheServerCannotFollowAreRefusedByName() {
    engine.start(EngineContract.DEAF);
    assertRefused(guided(null, "a", List.of(), "outlines", null), "guided_decoding.backend");
    assertRefused(guided(null, "a", List.of(), null, " "), "guided_decoding.whitespace_pattern");
    assertRefused(guided(null, "a", List.of("b"), null, null), "one form");
    var thinking =
        new StopConditions(1, List.of(), List.of(), List.of(), List.of(), null, false, 64);
    assertThatThrownBy(
            () ->
                run(
                    Requests.of(
                        PROMPT, thinking, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("max_thinking_tokens is 64");
  }

  private void assertRefused(SamplingOptions sampling, String name) {
    assertThatThrownBy(() -> run(asked(sampling)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(name);
  }

  @Test
  void aCancelledGenerationIsAbortedByItsId() throws Exception {
    engine.start(EngineContract.DEAF);
    var context = Requests.context();
    var got = Collected.all(engine.generate(Requests.endless(PROMPT, 200), context)).begun();
    context.cancellation().kill();
    assertThat(got.ended().last().finishReason()).isEqualTo(FinishReason.CANCELLED);
    assertThat(server.aborted()).isEqualTo(server.request().text("rid"));
  }

  @ParameterizedTest
  @EnumSource(names = {"CUT", "SHORT", "GARBAGE", "FEWER", "MORE", "ABORT"})
  void anAnswerThatBreaksLetsTheTextGoOnElsewhereWithItsTokens(FakeSglang.Fault fault)
      throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = fault;
    var got = run(Requests.of(PROMPT, 5));
    assertThat(got.failure()).isInstanceOf(Migratable.class);
    assertThat(got.tokens().length).isBetween(2, 5);
    assertThat(engine.running()).isZero();
    server.fault = FakeSglang.Fault.NONE;
    assertThat(run(Requests.of(PROMPT, 5)).tokens()).hasSize(5);
  }

  @ParameterizedTest
  @EnumSource(names = {"UNAVAILABLE", "ABORT_BUSY"})
  void aBusyServerIsNotABrokenOne(FakeSglang.Fault fault) throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = fault;
    assertThat(run(Requests.of(PROMPT, 5)).failure()).isInstanceOf(WorkerBusyException.class);
  }

  @Test
  void aRequestThatTheServerRefusesInItsStreamIsTheRequestersFault() throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = FakeSglang.Fault.REFUSE;
    assertThat(run(Requests.of(PROMPT, 5)).failure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("no such adapter");
  }

  @Test
  void aServerThatFallsSilentIsGivenUpAndAskedToAbort() throws Exception {
    try (var impatient =
        SglangEngineContractTest.engine(server.address(), Duration.ofMillis(200), null)) {
      impatient.start(EngineContract.DEAF);
      server.fault = FakeSglang.Fault.HANG;
      var got = Collected.all(impatient.generate(Requests.of(PROMPT, 5), Requests.context()));
      assertThat(got.ended().failure())
          .isInstanceOfSatisfying(
              WorkerLostException.class,
              lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_STREAM_INCOMPLETE));
      assertThat(server.aborted()).isEqualTo(server.request().text("rid"));
    }
  }

  @Test
  void theCacheIsFlushedUnlessTheServerIsBusy() {
    engine.start(EngineContract.DEAF);
    engine.clearCache();
    server.flushed = 400;
    assertThatThrownBy(() -> engine.clearCache()).hasMessageContaining("answers 400");
  }

  @Test
  void aSettingThatDisagreesWithTheServerIsRefusedWithBothValues() {
    assertStartRefused(
        new RemoteWishes(null, 32, null, null, 4, 4096),
        "reports 16, dynamo.worker.remote.block-tokens is 32");
    assertStartRefused(
        new RemoteWishes("gpt", null, null, null, 4, 4096),
        "it serves tiny-model/hf, dynamo.worker.remote.model is gpt");
  }

  private void assertStartRefused(RemoteWishes wishes, String why) {
    try (var other =
        new RemoteEngine(
            SharedLoops.LOOPS,
            new RemoteConfig(server.address(), null, null, LIMIT, LIMIT, 4, 4096, 4096, 1, 8),
            new SglangDialect(wishes),
            null)) {
      assertThatThrownBy(() -> other.start(EngineContract.DEAF)).hasMessageContaining(why);
    }
  }
}
