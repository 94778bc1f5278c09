package io.dynamo.worker.engine.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.StopReason;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.llama.LlamaEngine;
import io.dynamo.worker.engine.llama.LlamaEngineConfig;
import io.dynamo.worker.engine.llama.LlamaModel;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the engine over llama.cpp's own server; its tokens are compared with those of the `llama`
 * engine.
 */
class LlamaCppEngineTest {
  private static final int[] QUESTION = {4088, 333, 198, 529, 220, 275}; // an unfinished turn
  @TempDir private static Path folder;
  private static @Nullable ServerProcess server;

  private LlamaCppEngine engine;

  @BeforeAll
  static void serve() throws Exception {
    server = ServerProcess.start(folder, 2);
  }

  @AfterAll
  static void end() {
    if (server != null) {
      server.close();
    }
  }

  private static LlamaCppEngine newEngine() {
    return new LlamaCppEngine(
        SharedLoops.LOOPS,
        LlamaCppEngineContractTest.config(Objects.requireNonNull(server).address()),
        GenerationDefaults.of(TinyModel.DIRECTORY),
        () -> 42);
  }

  @BeforeEach
  void fresh() {
    engine = newEngine();
    engine.start(EngineContract.DEAF);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private Collected run(GenerateRequest request) throws InterruptedException {
    return Collected.all(engine.generate(request, Requests.context())).ended();
  }

  private static GenerateRequest asked(
      int[] prompt, StopConditions stop, SamplingOptions sampling, @Nullable Integer logprobs) {
    return Requests.of(prompt, stop, sampling, new OutputOptions(logprobs, null));
  }

  private static StopConditions endless(int tokens) {
    return new StopConditions(tokens, List.of(), List.of(), null, true);
  }

  private static SamplingOptions sampled(float temperature, long seed) {
    return new SamplingOptions(null, temperature, null, null, null, null, null, null, seed);
  }

  private static SamplingOptions guided(GuidedDecoding form) {
    return new SamplingOptions(
        null, 0f, null, null, null, null, null, null, null, null, form, PassedOn.NONE);
  }

  @Test
  void goldenPromptsGiveThePyTorchTokens() throws Exception {
    for (var golden : TinyModel.golden()) {
      var got = run(Requests.of(golden.prompt(), golden.output().length));
      assertThat(got.tokens()).as(golden.name()).isEqualTo(golden.output());
      boolean ended = golden.output()[golden.output().length - 1] == TinyModel.EOS;
      assertThat(got.last().finishReason())
          .as(golden.name())
          .isEqualTo(ended ? FinishReason.EOS : FinishReason.LENGTH);
    }
  }

  @Test
  void secondTimeThePromptIsFoundInTheCache() throws Exception {
    var prompt = TinyModel.golden().getFirst().prompt();
    run(Requests.of(prompt, 1));
    var usage = Objects.requireNonNull(run(Requests.of(prompt, 2)).items().getFirst().usage());
    assertThat(usage.cachedTokens()).isEqualTo(prompt.length - 1);
    assertThat(engine.ranks().getFirst().promptTokens()).isEqualTo(2L * prompt.length);
  }

  /**
   * At this temperature half of the tokens are pieces of characters; the server streams none of
   * those.
   */
  @Test
  void tokensThatTheServerHoldsBackComeAllTheSame() throws Exception {
    for (long seed = 1; seed <= 4; seed++) {
      var request = asked(QUESTION, endless(300), sampled(8f, seed), null);
      var got = run(request);
      assertThat(got.tokens()).as("seed %s", seed).hasSize(300);
      assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
      assertThat(pieces(got.tokens())).as("seed %s: pieces of characters", seed).isPositive();
    }
  }

  @Test
  void piecesOfCharactersAreThoseOfTheLlamaEngine() throws Exception {
    var bias = new LinkedHashMap<String, Object>();
    for (int id = 0; id < 256 && bias.size() < 6; id++) {
      if (pieces(new int[] {id}) > 0) {
        bias.put(Integer.toString(id), 30);
      }
    }
    var plain = Requests.endless(QUESTION, 50);
    var request =
        new GenerateRequest(
            plain.model(),
            plain.tokenIds(),
            plain.stop(),
            plain.sampling(),
            plain.output(),
            plain.eosTokenIds(),
            null,
            List.of(),
            plain.routing(),
            Map.of("logit_bias", bias));
    var got = run(request).tokens();
    assertThat(pieces(got)).isGreaterThan(25);
    try (var own = ownEngine()) {
      assertThat(Collected.all(own.generate(request, Requests.context())).ended().tokens())
          .isEqualTo(got);
    }
  }

  private static LlamaEngine ownEngine() {
    var own =
        new LlamaEngine(
            new LlamaEngineConfig(1, 4, 4, 16, 256, 64, 64),
            LlamaModel.load(TinyModel.DIRECTORY, Kernels.best()),
            new HeapMemory(),
            new ThreadPacer(),
            () -> 42);
    own.start(EngineContract.DEAF);
    return own;
  }

  /** Counts the tokens whose bytes are no complete text. */
  private static long pieces(int[] tokens) throws Exception {
    int pieces = 0;
    for (int token : tokens) {
      pieces += TinyModel.text(token).indexOf('\uFFFD') >= 0 ? 1 : 0;
    }
    return pieces;
  }

  @Test
  void otherSeedsGiveOtherTokens() throws Exception {
    var one = run(asked(QUESTION, endless(40), sampled(1.5f, 1), null)).tokens();
    var two = run(asked(QUESTION, endless(40), sampled(1.5f, 2), null)).tokens();
    assertThat(one).isNotEqualTo(two);
  }

  @Test
  void logProbabilitiesAreThoseOfTheLlamaEngine() throws Exception {
    var golden = TinyModel.golden().getFirst();
    var request =
        asked(
            golden.prompt(),
            new StopConditions(8, List.of(), List.of(), null, false),
            SamplingOptions.DEFAULTS,
            3);
    var here = run(request);
    try (var own = ownEngine()) {
      var there = Collected.all(own.generate(request, Requests.context())).ended();
      assertThat(here.tokens()).isEqualTo(there.tokens());
      for (int i = 0; i < here.items().size(); i++) {
        var ours = logprobs(here.items().get(i));
        var theirs = logprobs(there.items().get(i));
        assertThat(Objects.requireNonNull(ours.tokens())[0])
            .isCloseTo(Objects.requireNonNull(theirs.tokens())[0], within(1e-2));
        assertThat(ours.top().getFirst()).hasSize(3);
        assertThat(ours.top().getFirst().getFirst().tokenId())
            .isEqualTo(theirs.top().getFirst().getFirst().tokenId());
      }
    }
  }

  private static Logprobs logprobs(EngineOutput item) {
    return Objects.requireNonNull(item.logprobs());
  }

  @Test
  void stopIdOfTheClientEndsTheText() throws Exception {
    var golden = TinyModel.golden().getFirst();
    int third = golden.output()[2];
    var got = run(Requests.of(golden.prompt(), 40, third));
    assertThat(got.tokens()).isEqualTo(Arrays.copyOf(golden.output(), 3));
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.STOP);
    assertThat(got.last().stopReason()).isEqualTo(new StopReason.Token(third));
  }

  @Test
  void noEndIsDrawnBeforeTheLeastLength() throws Exception {
    var golden = TinyModel.golden().getFirst();
    int least = golden.output().length + 10;
    var stop = new StopConditions(least + 50, List.of(), List.of(), least, false);
    var got = run(asked(golden.prompt(), stop, SamplingOptions.DEFAULTS, null)).tokens();
    assertThat(got).hasSizeGreaterThan(least);
    assertThat(Arrays.copyOf(got, least)).doesNotContain(TinyModel.EOS);
  }

  @Test
  void guidedTextHasItsForm() throws Exception {
    var choice =
        new GuidedDecoding(null, null, List.of("say \"yes\"", "no\n"), null, null, null, null);
    var got = run(asked(QUESTION, budget(40), guided(choice), null));
    assertThat(text(got)).isIn("say \"yes\"", "no\n");
    var digits =
        new GuidedDecoding(null, null, List.of(), "root ::= [0-9] [0-9]", null, null, null);
    assertThat(text(run(asked(QUESTION, budget(40), guided(digits), null)))).matches("[0-9]{2}");
    var regex = new GuidedDecoding(null, "[ab]+", List.of(), null, null, null, null);
    assertThatThrownBy(() -> run(asked(QUESTION, budget(4), guided(regex), null)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("regex");
  }

  private static StopConditions budget(int tokens) {
    return new StopConditions(tokens, List.of(), List.of(), null, false);
  }

  private static String text(Collected got) throws Exception {
    var tokens = got.tokens();
    int end = tokens.length > 0 && tokens[tokens.length - 1] == TinyModel.EOS ? 1 : 0;
    return TinyModel.text(Arrays.copyOf(tokens, tokens.length - end));
  }

  @Test
  void brokenGrammarIsTheRequestersFault() throws Exception {
    var broken = new GuidedDecoding(null, null, List.of(), "root ::= (", null, null, null);
    var got = run(asked(QUESTION, budget(4), guided(broken), null));
    assertThat(got.failure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("llama.cpp's server answers 400");
  }

  @Test
  void thirdGenerationWaitsForASlotAndTheQueueIsBounded() throws Exception {
    var contexts = new ArrayList<RequestContext>();
    var begun = new ArrayList<Collected>();
    for (int i = 0; i < 2 + 16; i++) {
      contexts.add(Requests.context());
      begun.add(
          Collected.all(engine.generate(Requests.endless(QUESTION, 2000), contexts.getLast())));
    }
    var load = engine.ranks().getFirst();
    assertThat(load.running()).isEqualTo(2);
    assertThat(load.waiting()).isEqualTo(16);
    assertThatThrownBy(() -> run(Requests.endless(QUESTION, 1)))
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("18 generations");
    begun.getFirst().begun();
    contexts.forEach(context -> context.cancellation().kill());
    for (var one : begun) {
      assertThat(one.ended().last().finishReason()).isEqualTo(FinishReason.CANCELLED);
    }
    assertThat(engine.running()).isZero();
    assertThat(engine.cancelled()).isEqualTo(18);
    assertThat(engine.ranks().getFirst().heldBlocks()).isZero();
  }

  @Test
  void theServersTokensOfASampleTextAreReported() throws Exception {
    var sample = Objects.requireNonNull(engine.renderedSample());
    var ids = sample.tokenIds().stream().mapToInt(Integer::intValue).toArray();
    assertThat(TinyModel.text(ids)).isEqualTo(sample.text());
  }

  @Test
  void serverThatDiesLetsTheTextGoOnElsewhere() throws Exception {
    var other = ServerProcess.start(folder, 1);
    try (other;
        var engine =
            new LlamaCppEngine(
                SharedLoops.LOOPS,
                LlamaCppEngineContractTest.config(other.address()),
                GenerationDefaults.of(TinyModel.DIRECTORY),
                () -> 42)) {
      engine.start(EngineContract.DEAF);
      var got =
          Collected.all(engine.generate(Requests.endless(QUESTION, 3000), Requests.context()))
              .begun();
      other.close();
      assertThat(got.ended().failure())
          .isInstanceOfSatisfying(
              WorkerLostException.class,
              lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_STREAM_INCOMPLETE));
      var next = Collected.all(engine.generate(Requests.of(QUESTION, 4), Requests.context()));
      assertThat(next.ended().failure())
          .isInstanceOfSatisfying(
              WorkerLostException.class,
              lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
    }
  }
}
