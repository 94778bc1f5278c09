package io.dynamo.worker.engine.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.Usage;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.HeardEvents;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.llama.TinyModel.Golden;
import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llama.math.PlainKernel;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the engine with manual time: every pass runs on the test's thread. */
class LlamaEngineTest {
  private static final int BLOCK_TOKENS = 16;
  private final ManualPacer time = new ManualPacer();
  private final HeapMemory memory = new HeapMemory();
  private final HeardEvents heard = new HeardEvents();
  private final List<LlamaEngine> engines = new ArrayList<>();

  private LlamaEngine engine(Kernel kernel, int running, int waiting, int blocks, int passTokens) {
    return engine(TinyModel.model(kernel), running, waiting, blocks, passTokens);
  }

  private LlamaEngine engine(
      LlamaModel model, int running, int waiting, int blocks, int passTokens) {
    var config = new LlamaEngineConfig(1, running, waiting, BLOCK_TOKENS, blocks, passTokens, 4096);
    var engine = new LlamaEngine(config, model, memory, time, () -> 42);
    engine.start(heard);
    engines.add(engine);
    return engine;
  }

  @TempDir Path folder;

  private LlamaEngine engine() {
    return engine(Kernels.best(), 32, 32, 256, 256);
  }

  @AfterEach
  void close() {
    engines.forEach(LlamaEngine::close);
    assertThat(memory.regions()).isNotEmpty().allMatch(HeapMemory.HeapRegion::isClosed);
  }

  private static Collected begin(LlamaEngine engine, Golden golden) {
    var request = Requests.of(golden.prompt(), golden.output().length);
    return Collected.all(engine.generate(request, Requests.context()));
  }

  private Collected run(LlamaEngine engine, int[] prompt, int budget) {
    var got = Collected.all(engine.generate(Requests.endless(prompt, budget), Requests.context()));
    time.settle();
    assertThat(got.isEnded()).isTrue();
    return got;
  }

  private static void assertGolden(List<Golden> cases, List<Collected> answers) {
    for (int i = 0; i < cases.size(); i++) {
      assertThat(answers.get(i).isEnded()).as(cases.get(i).name()).isTrue();
      assertThat(answers.get(i).tokens()).as(cases.get(i).name()).isEqualTo(cases.get(i).output());
    }
  }

  @ParameterizedTest
  @CsvSource({"false,7", "true,7", "true,64", "true,4096"})
  void allAtOnceGiveThePyTorchTokensHoweverPromptsAreCut(boolean vector, int passTokens) {
    var engine = engine(vector ? Kernels.best() : new PlainKernel(), 32, 0, 1024, passTokens);
    var cases = TinyModel.golden();
    var answers = cases.stream().map(golden -> begin(engine, golden)).toList();
    time.settle();
    assertGolden(cases, answers);
    for (int i = 0; i < cases.size(); i++) {
      boolean ended = cases.get(i).output()[cases.get(i).output().length - 1] == TinyModel.EOS;
      assertThat(answers.get(i).last().finishReason())
          .isEqualTo(ended ? FinishReason.EOS : FinishReason.LENGTH);
    }
  }

  @Test
  void latecomersJoinTheBatchWithoutChangingIt() {
    var engine = engine();
    var cases = TinyModel.golden();
    var answers = new ArrayList<Collected>();
    for (var golden : cases) { // one more after every two passes
      answers.add(begin(engine, golden));
      time.advanceTicks(2);
    }
    assertThat(engine.ranks().getFirst().running()).isGreaterThan(5);
    time.settle();
    assertGolden(cases, answers);
  }

  @Test
  void cachedPrefixChangesNoToken() {
    var engine = engine();
    var cases = TinyModel.golden();
    cases.forEach(golden -> begin(engine, golden));
    time.settle();
    var again = cases.stream().map(golden -> begin(engine, golden)).toList();
    time.settle();
    assertGolden(cases, again);
    for (int i = 0; i < cases.size(); i++) {
      int prompt = cases.get(i).prompt().length;
      assertThat(again.get(i).last().usage())
          .isEqualTo(new Usage(prompt, cases.get(i).output().length, (prompt - 1) / 16 * 16));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 24, 40})
  void fewBlocksMakeSequencesWaitAndComputeAgainButChangeNoToken(int blocks) {
    var engine = engine(Kernels.best(), 20, 20, blocks, 64);
    var cases = TinyModel.golden().stream().filter(golden -> need(golden) <= blocks).toList();
    assertThat(cases).hasSizeGreaterThan(10);
    var answers = cases.stream().map(golden -> begin(engine, golden)).toList();
    time.settle();
    assertGolden(cases, answers);
    assertThat(heard.log()).contains("removed 1 on 0");
    assertThat(engine.ranks().getFirst().heldBlocks()).isZero();
    assertThat(engine.ranks().getFirst().cachedBlocks()).isEqualTo(heard.present().size());
  }

  private static int need(Golden golden) {
    return (golden.prompt().length + golden.output().length + 15) / 16;
  }

  @Test
  void lastComersGiveWayWhenBlocksRunOut() {
    var engine = engine(Kernels.best(), 4, 4, 9, 64);
    var answers = new ArrayList<Collected>();
    for (int i = 0; i < 3; i++) { // each begins with 2 blocks and ends with 5
      var request = Requests.endless(Requests.prompt(100 * (i + 1), 20), 60);
      answers.add(Collected.all(engine.generate(request, Requests.context())));
    }
    time.settle();
    assertThat(engine.preemptions()).isPositive();
    for (int i = 0; i < 3; i++) {
      var alone = run(engine, Requests.prompt(100 * (i + 1), 20), 60);
      assertThat(answers.get(i).tokens()).isEqualTo(alone.tokens()).hasSize(60);
      assertThat(answers.get(i).last().usage()).isEqualTo(new Usage(20, 60, 0));
    }
  }

  @Test
  void eventsNameTheBlocksThatAreThereAsARouterWould() {
    var engine = engine();
    var prompt = Requests.prompt(300, 40);
    var got = run(engine, prompt, 30);
    var all = IntStream.concat(IntStream.of(prompt), IntStream.of(got.tokens())).toArray();
    var hashes = BlockHashes.of(all, BLOCK_TOKENS); // the last token has no keys and values
    var names =
        IntStream.range(0, 69 / BLOCK_TOKENS)
            .mapToObj(i -> new SequenceHash(hashes.sequence(i)))
            .toList();
    assertThat(heard.present()).containsExactlyInAnyOrderElementsOf(names);
    assertThat(heard.log()).containsExactly("stored 2 on 0", "stored 1 on 0", "stored 1 on 0");
    engine.clearCache();
    time.settle();
    assertThat(heard.present()).isEmpty();
    assertThat(run(engine, prompt, 30).last().usage()).isEqualTo(new Usage(40, 30, 0));
  }

  @Test
  void theCacheIsEmptiedHoweverOftenThatIsAskedFor() {
    var engine = engine();
    var prompt = Requests.prompt(300, 40);
    run(engine, prompt, 3);
    for (int i = 0; i < 100; i++) {
      engine.clearCache();
    }
    assertThat(run(engine, prompt, 3).last().usage()).isEqualTo(new Usage(40, 3, 0));
  }

  private int cached(LlamaEngine engine, int[] prompt, Map<String, Object> routing) {
    var plain = Requests.endless(prompt, 3);
    var request =
        new GenerateRequest(
            "m",
            prompt,
            plain.stop(),
            plain.sampling(),
            plain.output(),
            new int[0],
            null,
            List.of(),
            new RoutingHints(null, PassedOn.of(routing)),
            Map.of());
    var got = Collected.all(engine.generate(request, Requests.context()));
    time.settle();
    assertThat(got.tokens()).hasSize(3);
    var usage = Objects.requireNonNull(got.last().usage());
    return Objects.requireNonNull(usage.cachedTokens());
  }

  @Test
  void blocksAreSharedWithinOneAdapterAndSaltAndNamedAsARouterDoes() throws Exception {
    var engine = engine();
    engine.loadAdapter("a", TinyAdapter.write(folder, 0, 0, 1f));
    var prompt = Requests.prompt(300, 40);
    var names = new ArrayList<SequenceHash>();
    for (var salt : new String[] {"", "one", "two"}) {
      for (var adapter : new String[] {"", "a"}) {
        var routing = Map.<String, Object>of("cache_salt", salt, "lora_name", adapter);
        assertThat(cached(engine, prompt, routing)).isZero();
        assertThat(cached(engine, prompt, routing)).isEqualTo(2 * BLOCK_TOKENS);
        var hashes = BlockHasher.of(BLOCK_TOKENS, adapter, salt).hash(prompt);
        names.add(new SequenceHash(hashes.sequence(0)));
        names.add(new SequenceHash(hashes.sequence(1)));
      }
    }
    assertThat(cached(engine, prompt, Map.of())).isEqualTo(2 * BLOCK_TOKENS);
    assertThat(heard.present()).containsExactlyInAnyOrderElementsOf(names);
  }

  @Test
  void engineThatCannotStartGivesItsMemoryBack() {
    Pacer broken =
        (_, _) -> {
          throw new OutOfMemoryError("no thread");
        };
    var config = new LlamaEngineConfig(2, 4, 4, BLOCK_TOKENS, 64, 64, 64);
    var engine = new LlamaEngine(config, TinyModel.model(Kernels.best()), memory, broken, () -> 1);
    assertThatThrownBy(() -> engine.start(heard)).isInstanceOf(OutOfMemoryError.class);
    assertThat(memory.regions()).hasSize(2).allMatch(HeapMemory.HeapRegion::isClosed);
  }

  @Test
  void twinsShareOneCopyOfTheirBlocks() {
    var engine = engine();
    var prompt = Requests.prompt(300, 40);
    var one = Collected.all(engine.generate(Requests.endless(prompt, 9), Requests.context()));
    var two = Collected.all(engine.generate(Requests.endless(prompt, 9), Requests.context()));
    time.settle();
    assertThat(one.tokens()).isEqualTo(two.tokens()).hasSize(9);
    assertThat(engine.ranks().getFirst().cachedBlocks()).isEqualTo(3);
    assertThat(heard.log()).containsExactly("stored 2 on 0", "stored 1 on 0");
  }

  @Test
  void spoiledBlockIsDroppedAndComputedAgain() {
    var engine = engine();
    var first = run(engine, Requests.prompt(300, 40), 5);
    memory.regions().getFirst().spoil(17);
    var again = run(engine, Requests.prompt(300, 40), 5);
    assertThat(again.tokens()).isEqualTo(first.tokens());
    assertThat(again.last().usage()).isEqualTo(new Usage(40, 5, 0));
    assertThat(engine.ranks().getFirst().corruptBlocks()).isEqualTo(1);
    assertThat(heard.log()).contains("removed 1 on 0");
  }

  @Test
  void numbersThatAreNotFiniteEndTheirSequenceAloneSoThatItMigrates() {
    var model = LlamaModel.load(TinyModel.DIRECTORY, Kernels.best());
    int hidden = model.weights().shape().hidden();
    model.weights().embedding()[77 * hidden + 5] = Float.NaN;
    var engine = engine(model, 8, 8, 64, 64);
    var golden = TinyModel.golden().getFirst();
    var healthy = begin(engine, golden);
    var poisoned =
        Collected.all(engine.generate(Requests.of(new int[] {1, 2, 77, 3}, 8), Requests.context()));
    time.settle();
    assertThat(poisoned.failure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_STREAM_INCOMPLETE))
        .hasMessageContaining("not finite");
    assertThat(poisoned.items()).isEmpty();
    assertThat(healthy.tokens()).isEqualTo(golden.output());
    assertThat(run(engine, Requests.prompt(600, 30), 1).tokens()).hasSize(1);
    assertThat(engine.running()).isZero();
    assertThat(engine.ranks().getFirst().heldBlocks()).isZero();
  }

  @Test
  void cancelBetweenTwoChunksOfAPromptFreesItsBlocks() {
    var engine = engine(Kernels.best(), 4, 4, 64, 16);
    var context = Requests.context();
    var victim =
        Collected.all(engine.generate(Requests.endless(Requests.prompt(1, 400), 4), context));
    time.advanceTicks(3);
    assertThat(engine.ranks().getFirst().prefillTokens()).isEqualTo(400 - 3 * 16);
    context.cancellation().stop();
    time.advanceTicks(1);
    assertThat(victim.last().finishReason()).isEqualTo(FinishReason.CANCELLED);
    assertThat(victim.tokens()).isEmpty();
    assertThat(engine.ranks().getFirst().heldBlocks()).isZero();
    assertThat(engine.cancelled()).isEqualTo(1);
  }

  @Test
  void decodingGoesOnWhileALongPromptIsComputed() {
    var engine = engine(Kernels.best(), 4, 4, 64, 16);
    var one =
        Collected.all(engine.generate(Requests.endless(new int[] {5}, 100), Requests.context()));
    time.advanceTicks(1);
    var two =
        Collected.all(
            engine.generate(Requests.endless(Requests.prompt(1, 150), 4), Requests.context()));
    time.advanceTicks(5);
    assertThat(one.tokens()).hasSize(6);
    assertThat(engine.ranks().getFirst().prefillTokens()).isEqualTo(150 - 5 * 15);
    time.settle();
    assertThat(two.tokens()).hasSize(4);
  }

  @Test
  void deadlineEndsAStreamThatNobodyReads() {
    var config = new LlamaEngineConfig(1, 2, 2, 16, 64, 64, 4);
    var engine = new LlamaEngine(config, TinyModel.model(Kernels.best()), memory, time, () -> 1);
    engine.start(heard);
    engines.add(engine);
    var request = Requests.endless(new int[] {5}, 100);
    var got = Collected.from(engine.generate(request, Requests.context(Duration.ofSeconds(9))), 0);
    time.settle();
    assertThat(engine.ranks().getFirst().running()).isEqualTo(1);
    time.advance(Duration.ofSeconds(10));
    assertThat(engine.running()).isZero();
    got.request(100);
    assertThat(got.tokens()).hasSize(4);
    assertThat(got.failure()).isInstanceOf(DeadlineExceededException.class);
  }

  @Test
  void sequenceThatGaveWayDrawsNothingWhileNobodyReadsIt() {
    var config = new LlamaEngineConfig(1, 2, 2, BLOCK_TOKENS, 6, 64, 4);
    var engine = new LlamaEngine(config, TinyModel.model(Kernels.best()), memory, time, () -> 1);
    engine.start(heard);
    engines.add(engine);
    var first = Requests.endless(Requests.prompt(100, 20), 60); // needs 5 blocks at the end
    var read = Collected.all(engine.generate(first, Requests.context()));
    var context = Requests.context();
    var second = Requests.endless(Requests.prompt(200, 20), 60);
    var unread = Collected.from(engine.generate(second, context), 0);
    time.settle();
    assertThat(read.tokens()).hasSize(60);
    assertThat(engine.preemptions()).isPositive();
    assertThat(engine.running()).isEqualTo(1);
    unread.request(2); // it resumes from its current state
    time.settle();
    context.cancellation().stop();
    time.settle();
    unread.request(100);
    assertThat(unread.last().finishReason()).isEqualTo(FinishReason.CANCELLED);
    assertThat(unread.tokens()).hasSize(6);
    assertThat(engine.running()).isZero();
    assertThat(engine.ranks().getFirst().heldBlocks()).isZero();
    assertThat(run(engine, Requests.prompt(300, 20), 3).tokens()).hasSize(3);
  }

  @Test
  void rankThatHasEndedTakesNoMoreRequests() {
    var driven = new ArrayList<Pacer.Driven>();
    Pacer pacer =
        (name, work) -> {
          driven.add(time.drive(name, work));
          return driven.getLast();
        };
    var config = new LlamaEngineConfig(2, 4, 4, BLOCK_TOKENS, 64, 64, 64);
    var engine = new LlamaEngine(config, TinyModel.model(Kernels.best()), memory, pacer, () -> 1);
    engine.start(heard);
    engines.add(engine);
    driven.getFirst().close();
    assertThat(run(engine, new int[] {5}, 3).tokens()).hasSize(3);
    assertThat(run(engine, new int[] {5}, 3).tokens()).hasSize(3);
    driven.getLast().close();
    assertThatThrownBy(() -> run(engine, new int[] {5}, 3)).isInstanceOf(WorkerLostException.class);
    assertThat(engine.running()).isZero();
  }

  @Test
  void passThatFindsNoMemoryCostsItsGenerationsAlone() {
    var best = Kernels.best();
    var full = new AtomicBoolean();
    var kernel =
        (Kernel)
            Proxy.newProxyInstance(
                Kernel.class.getClassLoader(),
                new Class<?>[] {Kernel.class},
                (_, method, arguments) -> {
                  if (full.get() && method.getName().equals("multiply")) {
                    throw new OutOfMemoryError("as the test says");
                  }
                  return method.invoke(best, arguments);
                });
    var engine = engine(LlamaModel.load(TinyModel.DIRECTORY, kernel), 4, 4, 64, 64);
    full.set(true);
    var failed = run(engine, new int[] {5}, 3);
    assertThat(failed.failure())
        .isInstanceOf(WorkerLostException.class)
        .hasMessageContaining("OutOfMemoryError");
    full.set(false);
    assertThat(run(engine, new int[] {5}, 3).tokens()).hasSize(3);
    assertThat(engine.running()).isZero();
  }

  @Test
  void fullQueueSendsTheRequestElsewhere() {
    var engine = engine(Kernels.best(), 1, 1, 64, 64);
    var request = Requests.endless(new int[] {5}, 100);
    Collected.all(engine.generate(request, Requests.context()));
    Collected.all(engine.generate(request, Requests.context()));
    assertThatThrownBy(() -> engine.generate(request, Requests.context()))
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("2 generations");
  }

  @Test
  void impossibleRequestsAreRefusedWithTheirNumbers() {
    var engine = engine(Kernels.best(), 1, 1, 10, 64);
    assertThatThrownBy(() -> run(engine, Requests.prompt(1, 100), 61))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("100 prompt tokens and 61 to generate")
        .hasMessageContaining("160 tokens");
    assertThatThrownBy(() -> run(engine, new int[] {1, 4096}, 1))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("4096");
    assertThatThrownBy(() -> run(engine, new int[] {-1}, 1))
        .isInstanceOf(InvalidRequestException.class);
    assertThat(engine.running()).isZero();
  }
}
