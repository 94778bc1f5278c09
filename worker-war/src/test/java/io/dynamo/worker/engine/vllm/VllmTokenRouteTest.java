package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.Logprobs.Top;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteWishes;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.vllm.VllmDialect.TokenRoute;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the contract over a server that offers the route without text. */
class VllmTokenRouteTest extends EngineContract {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int[] PROMPT = {300, 337, 374};
  private @Nullable FakeVllm server;

  @Override
  protected Engine newEngine() {
    return engine(Map.of());
  }

  private FakeVllm server() {
    try {
      var at = server == null ? new FakeVllm() : server;
      at.tokenRoute = true;
      server = at;
      return at;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private RemoteEngine engine(Map<String, Number> defaults) {
    return engine(TokenRoute.IF_OFFERED, defaults);
  }

  private RemoteEngine engine(TokenRoute route, Map<String, Number> defaults) {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(server().address(), null, null, LIMIT, LIMIT, 4, 4096, 4096, 2, 8),
        new VllmDialect(
            new RemoteWishes(null, null, null, null, 4, 4096), route, defaults, new ServerMemory()),
        null);
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void optionsAreSamplingParametersAndTheModelsDefaultsFillTheRest() throws Exception {
    try (var engine = engine(Map.of("temperature", 0.6, "top_k", 20))) {
      engine.start(DEAF);
      var choice = new GuidedDecoding(null, null, List.of("a", "b"), null, null, null, null);
      var sampling =
          new SamplingOptions(
              null, 0.5f, null, null, null, null, null, null, 99L, null, choice, PassedOn.NONE);
      var stop = new StopConditions(4, List.of(), List.of(11), 2, false);
      var routing =
          new RoutingHints(
              null, PassedOn.of(Map.of("cache_salt", "tenant-a", "lora_name", "poet")));
      var request = Requests.of(PROMPT, stop, sampling, new OutputOptions(2, null));
      var got =
          Collected.all(engine.generate(request.routedTo(routing), Requests.context())).ended();
      assertThat(got.tokens()).hasSize(4);
      assertThat(Objects.requireNonNull(got.last().usage()).cachedTokens()).isEqualTo(2);
      var heard = server().request();
      assertThat(heard.path()).isEqualTo("/inference/v1/generate");
      assertThat(heard.body().members())
          .containsEntry("model", "poet")
          .containsEntry("token_ids", List.of(300, 337, 374))
          .containsEntry("stream", true)
          .containsEntry("cache_salt", "tenant-a")
          .doesNotContainKeys("prompt", "return_token_ids", "kv_transfer_params");
      assertThat(heard.body().object("sampling_params").members())
          .containsEntry("max_tokens", 4)
          .containsEntry("min_tokens", 2)
          .containsEntry("temperature", 0.5)
          .containsEntry("top_k", 20)
          .containsEntry("seed", 99)
          .containsEntry("stop_token_ids", List.of(11))
          .containsEntry("logprobs", 3)
          .containsEntry("detokenize", false)
          .containsEntry("structured_outputs", Map.of("choice", List.of("a", "b")))
          .doesNotContainKeys("top_p");
    }
  }

  private void requirePath(TokenRoute route, String path) throws Exception {
    try (var engine = engine(route, Map.of())) {
      engine.start(DEAF);
      var got = Collected.all(engine.generate(Requests.of(PROMPT, 1), Requests.context())).ended();
      assertThat(got.tokens()).hasSize(1);
      assertThat(server().request().path()).isEqualTo(path);
    }
  }

  @Test
  void theRouteIsUsedUnlessTheSettingForbidsIt() throws Exception {
    requirePath(TokenRoute.IF_OFFERED, VllmFacts.TOKENS);
    requirePath(TokenRoute.NEVER, VllmFacts.COMPLETIONS);
  }

  @Test
  void theFormOfEarlierServersIsNotUsed() throws Exception {
    server().tokenProbe = answer -> answer.replace("\"stop_reason\":null,", "");
    requirePath(TokenRoute.IF_OFFERED, VllmFacts.COMPLETIONS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"data: {\"choices\":", "<html>", "data: {\"choices\":[7]}\n\n", ""})
  void anAnswerThatCannotBeReadLeavesTheOtherRoute(String answer) throws Exception {
    server().tokenProbe = usual -> answer;
    requirePath(TokenRoute.IF_OFFERED, VllmFacts.COMPLETIONS);
  }

  @Test
  void aProbeThatBreaksOffLeavesTheOtherRoute() throws Exception {
    server().tokenProbe =
        usual -> {
          throw new IllegalStateException("the connection breaks");
        };
    requirePath(TokenRoute.IF_OFFERED, VllmFacts.COMPLETIONS);
  }

  @Test
  void aRequestThatNamesARankTakesItAlong() throws Exception {
    var line =
        server()
            .metrics
            .lines()
            .filter(one -> one.startsWith("vllm:cache_config_info{"))
            .findFirst()
            .orElseThrow();
    server().metrics = line + "\n" + line.replace("engine=\"0\"", "engine=\"1\"") + "\n";
    try (var engine = engine(Map.of())) {
      assertThat(engine.start(DEAF).ranks()).isEqualTo(2);
      var request = Requests.of(PROMPT, 1).routedTo(new RoutingHints(1));
      Collected.all(engine.generate(request, Requests.context())).ended();
      var heard = server().request();
      assertThat(heard.path()).isEqualTo(VllmFacts.TOKENS);
      assertThat(heard.rank()).containsExactly("1");
    }
  }

  @Test
  void parametersOfConnectorsTakeTheRouteThatReturnsThem() throws Exception {
    try (var engine = engine(Map.of())) {
      engine.start(DEAF);
      var params = Map.of("kv_transfer_params", Map.of("remote_engine_id", "p1"));
      var request =
          Requests.of(PROMPT, 1)
              .withHandoff(new Handoff(new Handoff.PrefillResult(params, null), null));
      Collected.all(engine.generate(request, Requests.context())).ended();
      assertThat(server().request().path()).isEqualTo("/v1/completions");
    }
  }

  private static String rated(int id, double logprob, int rank, String likely) {
    return "{\"token_id\":%d,\"logprob\":%s,\"rank\":%d%s}".formatted(id, logprob, rank, likely);
  }

  private static String rated(int id, double logprob, int rank) {
    return rated(id, logprob, rank, "");
  }

  /** Returns a message of the form of vLLM 0.32, which rates the drawn token first. */
  private static byte[] message(int drawn, double logprob, int rank, String... others) {
    var own = rated(drawn, logprob, rank);
    var listed =
        ",\"top_logprobs\":["
            + own
            + (others.length == 0 ? "" : "," + String.join(",", others))
            + "]";
    return "data: {\"request_id\":\"generate-tokens-1\",\"usage\":null,\"output_mode\":\"tokens\",\"choices\":[{\"index\":0,\"finish_reason\":null,\"stop_reason\":null,\"token_ids\":[%d],\"logprobs\":{\"content\":[%s]}}]}"
        .formatted(drawn, rated(drawn, logprob, rank, listed))
        .getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void aDrawnTokenIsLikelyWhereItIsOneOfTheLikeliest() {
    var chunk =
        new VllmReader(new int[0], 2)
            .read(message(706, -3.25, 2, rated(268, -3.5, 3), rated(72, -3.125, 1)));
    assertThat(Objects.requireNonNull(chunk).tokens()).containsExactly(706);
    assertThat(chunk.logprobs()).containsExactly(-3.25);
    assertThat(chunk.top().getFirst())
        .containsExactly(new Top(1, 72, null, -3.125, null), new Top(2, 706, null, -3.25, null));
  }

  @Test
  void anUnlikelyDrawnTokenIsNotListed() {
    var chunk =
        new VllmReader(new int[0], 2)
            .read(message(7, -9.5, 731, rated(72, -3.125, 1), rated(268, -3.5, 2)));
    assertThat(Objects.requireNonNull(chunk).logprobs()).containsExactly(-9.5);
    assertThat(chunk.top().getFirst())
        .containsExactly(new Top(1, 72, null, -3.125, null), new Top(2, 268, null, -3.5, null));
  }

  @Test
  void noAlternativesAreListedWhereNoneAreWanted() {
    var chunk = new VllmReader(new int[0], 0).read(message(7, -9.5, 1));
    assertThat(Objects.requireNonNull(chunk).logprobs()).containsExactly(-9.5);
    assertThat(chunk.top().getFirst()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0, 0, tokens", "1, 2, tokens", "19, 20, tokens", "20, 20, text"})
  void oneMoreThanTheWantedAlternativesAreAskedFor(int wanted, int asked, String form)
      throws Exception {
    try (var engine = engine(Map.of())) {
      engine.start(DEAF);
      var request =
          Requests.of(
              PROMPT,
              new StopConditions(1, List.of(), List.of(), null, false),
              SamplingOptions.DEFAULTS,
              new OutputOptions(wanted, null));
      Collected.all(engine.generate(request, Requests.context())).ended();
      var heard = server().request();
      boolean tokens = form.equals("tokens");
      assertThat(heard.path()).isEqualTo(tokens ? VllmFacts.TOKENS : VllmFacts.COMPLETIONS);
      var body = heard.body();
      assertThat((tokens ? body.object("sampling_params") : body).members())
          .containsEntry("logprobs", asked);
    }
  }

  @Test
  void defaultsAreThoseOfTheModelsFiles(@TempDir Path model) throws IOException {
    assertThat(VllmDefaults.of(model)).isEmpty();
    Files.writeString(
        model.resolve("generation_config.json"),
        "{\"do_sample\":true,\"temperature\":0.6,\"top_k\":20,\"presence_penalty\":1.5,\"frequency_penalty\":0.25,\"eos_token_id\":[1,2],\"top_p\":null}");
    assertThat(VllmDefaults.of(model))
        .isEqualTo(
            Map.of(
                "temperature",
                0.6,
                "top_k",
                20,
                "presence_penalty",
                1.5,
                "frequency_penalty",
                0.25));
  }
}
