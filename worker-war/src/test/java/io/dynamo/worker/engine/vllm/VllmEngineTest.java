package io.dynamo.worker.engine.vllm;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.KvEventEndpoint;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VllmEngineTest {
  private static final int[] PROMPT = {300, 337, 374};
  private FakeVllm server;
  private RemoteEngine engine;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
    engine = VllmEngineContractTest.engine(server.address(), Duration.ofSeconds(20), null);
  }

  @AfterEach
  void stop() {
    engine.close();
    server.close();
  }

  private static GenerateRequest asked(SamplingOptions sampling, StopConditions stop) {
    return Requests.of(PROMPT, stop, sampling, OutputOptions.DEFAULTS);
  }

  private static StopConditions budget(int tokens) {
    return new StopConditions(tokens, List.of(), List.of(), null, false);
  }

  private static SamplingOptions guided(@Nullable GuidedDecoding form) {
    return new SamplingOptions(
        null, null, null, null, null, null, null, null, null, null, form, PassedOn.NONE);
  }

  private Collected run(GenerateRequest request) throws Exception {
    return Collected.all(engine.generate(request, Requests.context())).ended();
  }

  @Test
  void theLimitsAreThoseThatTheServerReports() {
    var description = engine.start(EngineContract.DEAF);
    assertThat(description.contextLength()).isEqualTo(4096);
    assertThat(description.blockTokens()).isEqualTo(32);
    assertThat(description.totalBlocks()).isEqualTo(160);
    assertThat(description.ranks()).isEqualTo(1);
    assertThat(description.tellsKvEvents()).isFalse();
  }

  @Test
  void tokensAreTheServersAndTheLastItemHasItsCounts() throws Exception {
    engine.start(EngineContract.DEAF);
    var got = run(Requests.of(PROMPT, 5));
    assertThat(got.failure()).isNull();
    var prompt = List.of(300, 337, 374);
    assertThat(got.tokens())
        .containsExactly(
            FakeVllm.token(prompt, 0),
            FakeVllm.token(prompt, 1),
            FakeVllm.token(prompt, 2),
            FakeVllm.token(prompt, 3),
            FakeVllm.token(prompt, 4));
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(Objects.requireNonNull(got.last().usage()).cachedTokens()).isEqualTo(2);
    assertThat(engine.ranks().getFirst().cachedTokens()).isEqualTo(2);
  }

  /** Returns recorded metrics of a busy server after so many tokens. */
  private static String busy(String metrics, int tokens) {
    return metrics
        .replaceAll("(?m)^(vllm:num_requests_running\\{.*}) .*$", "$1 5.0")
        .replaceAll("(?m)^(vllm:num_requests_waiting\\{.*}) .*$", "$1 2.0")
        .replaceAll("(?m)^(vllm:kv_cache_usage_perc\\{.*}) .*$", "$1 0.25")
        .replaceAll("(?m)^(vllm:generation_tokens_total\\{.*}) .*$", "$1 " + tokens);
  }

  @Test
  void theLoadIncludesRequestsOfOthersWhileTheServerComputes() throws Exception {
    engine.start(EngineContract.DEAF);
    var idle = engine.ranks().getFirst();
    assertThat(idle.heldBlocks()).isZero();
    long begun = System.nanoTime();
    RankLoad load;
    int tokens = 2000;
    do {
      server.metrics = busy(server.metrics, tokens++);
      load = engine.ranks().getFirst();
      Thread.onSpinWait();
    } while (load.heldBlocks() == 0 && System.nanoTime() - begun < SECONDS.toNanos(20));
    assertThat(load.heldBlocks()).isEqualTo(40);
    assertThat(load.running()).isEqualTo(5);
    assertThat(load.waiting()).isEqualTo(2);
    do { // the gauges stay, but no more tokens come
      load = engine.ranks().getFirst();
      Thread.onSpinWait();
    } while (load.heldBlocks() != 0 && System.nanoTime() - begun < SECONDS.toNanos(40));
    assertThat(load).isEqualTo(idle);
  }

  @Test
  void everyOptionReachesTheServerUnderItsName() throws Exception {
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
            PassedOn.of(Map.of("logit_bias", Map.of("5", 2), "best_of", 1)));
    var stop =
        new StopConditions(4, List.of("x"), List.of(11), List.of(12), List.of(13), 2, false, 64);
    var routing =
        new RoutingHints(
            0, PassedOn.of(Map.of("cache_salt", "tenant-a", "lora_name", "poet", "priority", 3)));
    run(Requests.of(PROMPT, stop, sampling, new OutputOptions(2, null)).routedTo(routing));
    var body = server.request().body();
    assertThat(body.members())
        .containsEntry("model", "poet")
        .containsEntry("prompt", List.of(300, 337, 374))
        .containsEntry("max_tokens", 4)
        .containsEntry("min_tokens", 2)
        .containsEntry("temperature", 0.5)
        .containsEntry("top_p", 0.25)
        .containsEntry("top_k", 7)
        .containsEntry("min_p", 0.125)
        .containsEntry("frequency_penalty", 0.5)
        .containsEntry("presence_penalty", -0.5)
        .containsEntry("repetition_penalty", 1.5)
        .containsEntry("seed", 99)
        .containsEntry("stop_token_ids", List.of(11, 12, 13))
        .containsEntry("ignore_eos", false)
        .containsEntry("thinking_token_budget", 64)
        .containsEntry("logprobs", 2)
        .containsEntry("return_tokens_as_token_ids", true)
        .containsEntry("return_token_ids", true)
        .containsEntry("stream", true)
        .containsEntry("cache_salt", "tenant-a")
        .doesNotContainKeys("stop", "priority", "n");
    assertThat(body.object("logit_bias").members()).containsEntry("5", 2.0);
  }

  @Test
  void unsetOptionsAreNotSent() throws Exception {
    engine.start(EngineContract.DEAF);
    run(Requests.of(PROMPT, 1));
    var body = server.request().body();
    assertThat(body.members())
        .doesNotContainKeys(
            "temperature", "top_p", "top_k", "min_p", "seed", "logprobs", "priority")
        .containsEntry("model", "tiny");
  }

  @Test
  void prioritiesGoToAServerThatSchedulesByThem() throws Exception {
    server.priorities = true;
    engine.start(EngineContract.DEAF);
    var routing = new RoutingHints(null, PassedOn.of(Map.of("priority", 3)));
    run(Requests.of(PROMPT, 1).routedTo(routing));
    assertThat(server.request().body().members()).containsEntry("priority", -3);
  }

  @Test
  void aTextThatGoesOnHereGetsAnotherSeed() throws Exception {
    engine.start(EngineContract.DEAF);
    var sampling = SamplingOptions.DEFAULTS.withSeed(99);
    run(asked(sampling, budget(4)).continuedBy(new int[] {5, 6}));
    var body = server.request().body();
    assertThat(body.list("prompt")).isEqualTo(List.of(300, 337, 374, 5, 6));
    assertThat(body.members().get("seed")).isNotEqualTo(99);
    assertThat(body.members()).containsEntry("max_tokens", 2);
  }

  @Test
  void formsAreGuidedByTheirNames() throws Exception {
    engine.start(EngineContract.DEAF);
    var schema = Map.<String, Object>of("type", "object");
    run(
        asked(
            guided(new GuidedDecoding(schema, null, List.of(), null, null, " ?", null)),
            budget(1)));
    assertThat(server.request().body().object("structured_outputs").members())
        .isEqualTo(Map.of("json", schema, "whitespace_pattern", " ?"));
    run(
        asked(
            guided(new GuidedDecoding(null, "a+", List.of(), null, null, null, null)), budget(1)));
    assertThat(server.request().body().object("structured_outputs").members())
        .isEqualTo(Map.of("regex", "a+"));
    run(
        asked(
            guided(new GuidedDecoding(null, null, List.of("a", "b"), null, null, null, null)),
            budget(1)));
    assertThat(server.request().body().object("structured_outputs").members())
        .isEqualTo(Map.of("choice", List.of("a", "b")));
    run(
        asked(
            guided(new GuidedDecoding(null, null, List.of(), null, "auto", null, schema)),
            budget(1)));
    assertThat(server.request().body().object("structured_outputs").members())
        .isEqualTo(Map.of("structural_tag", "{\"type\":\"object\"}"));
  }

  @Test
  void optionsThatTheServerCannotFollowAreRefusedByName() {
    engine.start(EngineContract.DEAF);
    assertRefused(
        guided(new GuidedDecoding(null, "a", List.of(), null, "outlines", null, null)),
        "guided_decoding.backend");
    assertRefused(
        guided(new GuidedDecoding(null, "a", List.of("b"), null, null, null, null)), "one form");
    assertRefused(others(Map.of("use_beam_search", true)), "use_beam_search");
    assertRefused(others(Map.of("best_of", 3)), "best_of is 3");
    assertRefused(others(Map.of("length_penalty", 2.0)), "length_penalty is 2.0");
    assertRefused(new SamplingOptions(2, null, null, null, null, null, null, null, null), "n is 2");
  }

  private static SamplingOptions others(Map<String, Object> others) {
    return new SamplingOptions(
        null, null, null, null, null, null, null, null, null, null, null, PassedOn.of(others));
  }

  private void assertRefused(SamplingOptions sampling, String name) {
    assertThatThrownBy(() -> run(asked(sampling, budget(4))))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(name);
  }

  @ParameterizedTest
  @EnumSource(names = {"CUT", "SHORT", "GARBAGE", "MORE"})
  void anAnswerThatBreaksLetsTheTextGoOnElsewhereWithItsTokens(FakeVllm.Fault fault)
      throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = fault;
    var got = run(Requests.of(PROMPT, 5));
    assertThat(got.failure()).isInstanceOf(Migratable.class);
    assertThat(got.tokens().length).isBetween(2, 5);
    assertThat(engine.running()).isZero();
    server.fault = FakeVllm.Fault.NONE;
    assertThat(run(Requests.of(PROMPT, 5)).tokens()).hasSize(5);
  }

  @Test
  void anAnswerOfMoreBytesThanOneTurnReadsIsReadToItsEnd() throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = FakeVllm.Fault.CHATTY;
    assertThat(run(Requests.of(PROMPT, 5)).tokens()).hasSize(5);
  }

  @Test
  void aCacheIsClearedOnceItsBlocksAreFree() throws Exception {
    engine.start(EngineContract.DEAF);
    server.resets.addAll(
        List.of("{\"success\":false}", "{\"success\":false}", "{\"success\":true}"));
    engine.clearCache();
    assertThat(server.resets).isEmpty();
    server.resets.add(""); // of servers that do not say
    engine.clearCache();
    assertThat(server.resets).isEmpty();
  }

  @Test
  void aCacheThatStaysInUseIsNotCalledClear() throws Exception {
    engine.start(EngineContract.DEAF);
    server.resets.addAll(Collections.nCopies(1000, "{\"success\":false}"));
    assertThatThrownBy(engine::clearCache)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("only while no request runs");
  }

  @Test
  void aServerThatFallsSilentIsGivenUp() throws Exception {
    try (var impatient =
        VllmEngineContractTest.engine(server.address(), Duration.ofSeconds(2), null)) {
      impatient.start(EngineContract.DEAF);
      server.fault = FakeVllm.Fault.HANG;
      var got = Collected.all(impatient.generate(Requests.of(PROMPT, 5), Requests.context()));
      assertThat(got.ended().failure())
          .isInstanceOfSatisfying(
              WorkerLostException.class,
              lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_STREAM_INCOMPLETE))
          .hasMessageContaining("dynamo.worker.remote.silence-timeout");
      assertThat(got.tokens()).hasSize(2);
    }
  }

  @Test
  void aSilentServerDoesNotOutliveTheDeadline() throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = FakeVllm.Fault.HANG;
    var context = Requests.context(Duration.ofSeconds(3));
    var got = Collected.all(engine.generate(Requests.of(PROMPT, 5), context)).ended();
    assertThat(got.failure())
        .isInstanceOf(DynamoException.class)
        .hasMessageContaining("2 of 5 tokens");
  }

  @Test
  void aBusyServerIsNotABrokenOne() throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = FakeVllm.Fault.BUSY;
    assertThat(run(Requests.of(PROMPT, 5)).failure()).isInstanceOf(WorkerBusyException.class);
    server.fault = FakeVllm.Fault.UNAVAILABLE;
    assertThat(run(Requests.of(PROMPT, 5)).failure())
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("no room");
  }

  @Test
  void aConnectionThatClosesBeforeTheAnswerIsTriedOnceMore() throws Exception {
    engine.start(EngineContract.DEAF);
    server.fault = FakeVllm.Fault.GONE;
    assertThat(run(Requests.of(PROMPT, 5)).failure()).isInstanceOf(WorkerLostException.class);
    server.request();
    server.request(); // was asked twice
  }

  @Test
  void aServerThatIsGoneCannotBeReached() throws Exception {
    engine.start(EngineContract.DEAF);
    server.close();
    assertThat(run(Requests.of(PROMPT, 5)).failure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
  }

  @Test
  void theKeyIsSentWithEveryRequest() throws Exception {
    try (var keyed =
        VllmEngineContractTest.engine(server.address(), Duration.ofSeconds(20), "secret")) {
      keyed.start(EngineContract.DEAF);
      Collected.all(keyed.generate(Requests.of(PROMPT, 1), Requests.context())).ended();
      assertThat(server.request().key()).containsExactly("Bearer secret");
    }
  }

  private RemoteEngine wishing(RemoteWishes wishes) {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(
            server.address(),
            null,
            null,
            Duration.ofSeconds(20),
            Duration.ofSeconds(20),
            4,
            4096,
            4096,
            1,
            8),
        new VllmDialect(wishes),
        null);
  }

  @Test
  void eventsOfARankAreFollowedWhereTheServerReportsThem() {
    server.sources =
        "{\"0\":{\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:5557\",\"replay_endpoint\":\"tcp://[::]:5657\"}}";
    assertThat(followed())
        .containsExactly(new KvEventEndpoint("tcp://127.0.0.1:5557", "tcp://127.0.0.1:5657"));
    server.sources = "{\"0\":{\"publisher\":\"null\"}}";
    assertThat(followed()).isEmpty();
    server.sources = "{\"0\":{\"publisher\":\"zmq\",\"endpoint\":\"tcp://127.0.0.1:5557\"}}";
    assertThat(followed()).as("to which the server connects").isEmpty();
    server.sources = "{\"0\":{\"publisher\":\"zmq\",\"endpoint\":\"ipc:///tmp/*\"}}";
    assertThat(followed()).isEmpty();
  }

  @Test
  void aSecondPublisherIsFollowedBesideTheServer() {
    server.sources = "{\"0\":{\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:5557\"}}";
    var second = new KvEventEndpoint("tcp://127.0.0.1:5601", "tcp://127.0.0.1:5701");
    assertThat(followed(second))
        .containsExactly(new KvEventEndpoint("tcp://127.0.0.1:5557", null), second);
  }

  @Test
  void aSecondPublisherWithoutAFirstOrEqualToItIsRefused() {
    var second = new KvEventEndpoint("tcp://127.0.0.1:5557", null);
    server.sources = "{}";
    assertThatThrownBy(() -> followed(second))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("have nothing to be merged with");
    server.sources = "{\"0\":{\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:5557\"}}";
    assertThatThrownBy(() -> followed(second))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("dynamo.worker.remote.second-kv-events");
  }

  /** Returns the addresses that an engine follows; its card says whether there are any. */
  private List<KvEventEndpoint> followed() {
    return followed(null);
  }

  private List<KvEventEndpoint> followed(@Nullable KvEventEndpoint second) {
    var followed = new ArrayList<KvEventEndpoint>();
    try (var other =
        new RemoteEngine(
            SharedLoops.LOOPS,
            new RemoteConfig(
                server.address(),
                null,
                null,
                Duration.ofSeconds(20),
                Duration.ofSeconds(20),
                4,
                4096,
                4096,
                1,
                8),
            new VllmDialect(new RemoteWishes(null, null, null, null, 4, 4096)),
            (endpoints, _) -> {
              followed.addAll(endpoints);
              return () -> {};
            },
            second)) {
      assertThat(other.start(EngineContract.DEAF).tellsKvEvents()).isEqualTo(!followed.isEmpty());
    }
    return followed;
  }

  @Test
  void aSettingThatDisagreesWithTheServerIsRefusedWithBothValues() {
    try (var other = wishing(new RemoteWishes(null, 16, null, null, 4, 4096))) {
      assertThatThrownBy(() -> other.start(EngineContract.DEAF))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("reports 32, dynamo.worker.remote.block-tokens is 16");
    }
    try (var other = wishing(new RemoteWishes("gpt", null, null, null, 4, 4096))) {
      assertThatThrownBy(() -> other.start(EngineContract.DEAF))
          .hasMessageContaining("it serves [tiny], dynamo.worker.remote.model is gpt");
    }
  }

  @Test
  void aServerWithoutMetricsNeedsSettings() {
    server.metrics = "";
    assertThatThrownBy(() -> engine.start(EngineContract.DEAF))
        .hasMessageContaining("dynamo.worker.remote.block-tokens");
    try (var other = wishing(new RemoteWishes(null, 64, 10, null, 4, 4096))) {
      assertThat(other.start(EngineContract.DEAF).totalBlocks()).isEqualTo(10);
    }
  }

  @Test
  void moreRanksThanTheWorkerHasRoomForAreRefusedAndOthersAreNamed() throws Exception {
    var line =
        server
            .metrics
            .lines()
            .filter(one -> one.startsWith("vllm:cache_config_info{"))
            .findFirst()
            .orElseThrow();
    server.metrics = line + "\n" + line.replace("engine=\"0\"", "engine=\"1\"") + "\n";
    try (var narrow = wishing(new RemoteWishes(null, null, null, null, 4, 4096))) {
      assertThatThrownBy(() -> narrow.start(EngineContract.DEAF))
          .hasMessageContaining("has 2 data-parallel ranks, dynamo.worker.ranks is 1");
    }
    assertThat(engine.start(EngineContract.DEAF).ranks()).isEqualTo(2);
    run(Requests.of(PROMPT, 1).routedTo(new RoutingHints(1)));
    assertThat(server.request().rank()).containsExactly("1");
    assertThat(engine.ranks()).hasSize(2);
    assertThat(engine.ranks().get(1).promptTokens()).isEqualTo(3);
  }

  @Test
  void theServersMetricsAreReadWhileItLives() {
    assertThat(engine.serverMetrics()).as("before the start").isEmpty();
    engine.start(EngineContract.DEAF);
    assertThat(engine.serverMetrics()).isEqualTo(server.metrics).contains("vllm:cache_config_info");
    server.close();
    assertThat(engine.serverMetrics()).isEmpty();
  }

  @Test
  void kvTransferParametersGoBothWays() throws Exception {
    engine.start(EngineContract.DEAF);
    var request = Requests.of(PROMPT, 1);
    var params = Map.<String, Object>of("remote_engine_id", "p1");
    run(
        request.withHandoff(
            new io.dynamo.inference.Handoff(
                new io.dynamo.inference.Handoff.PrefillResult(
                    Map.of("kv_transfer_params", params), null),
                null)));
    assertThat(server.request().body().object("kv_transfer_params").members()).isEqualTo(params);
    var chunk =
        new VllmReader(new int[0], 0)
            .read(
                "data: {\"choices\":[{\"index\":0,\"token_ids\":[1]}],\"kv_transfer_params\":{\"remote_port\":5}}"
                    .getBytes(java.nio.charset.StandardCharsets.UTF_8));
    assertThat(Objects.requireNonNull(chunk).passedOn().get("disaggregated_params"))
        .isEqualTo(JsonObject.ordered("kv_transfer_params", Map.of("remote_port", 5)));
  }
}
