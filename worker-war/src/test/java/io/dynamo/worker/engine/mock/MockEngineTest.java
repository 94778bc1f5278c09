package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.ExpandedPrompt;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.Usage;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MockEngineTest {
  private static final int[] VOCABULARY = Requests.prompt(100, 50);
  private static final int BLOCK_BYTES = 64;
  private static final Duration STEP = Duration.ofMillis(5);

  /** Records the caches' events: the names that are present now, and every event as text. */
  private static final class MockEventRecorder implements KvEventSink {
    final Set<SequenceHash> present = new HashSet<>();
    final List<String> log = new ArrayList<>();

    @Override
    public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
      assertThat(parent == null || present.contains(parent)).as("parent is there").isTrue();
      blocks.forEach(block -> assertThat(present.add(block.hash())).as("new block").isTrue());
      log.add("stored " + blocks.size() + " on " + rank);
    }

    @Override
    public void removed(int rank, List<SequenceHash> blocks) {
      blocks.forEach(block -> assertThat(present.remove(block)).as("known block").isTrue());
      log.add("removed " + blocks.size() + " on " + rank);
    }

    @Override
    public void cleared(int rank) {
      present.clear();
      log.add("cleared " + rank);
    }
  }

  private final ManualPacer time = new ManualPacer();
  private final HeapMemory memory = new HeapMemory();
  private final MockEventRecorder heard = new MockEventRecorder();
  private final OracleTokens oracle = new OracleTokens(VOCABULARY);
  private final MockEngine engine = engine(1, 2, 2, 64);

  private MockEngine engine(int ranks, int running, int waiting, int blocks) {
    var config =
        new MockEngineConfig(
            ranks,
            running,
            waiting,
            1000,
            4,
            blocks,
            BLOCK_BYTES,
            Scheduling.of(new PassTiming.Linear(Duration.ofMillis(1), STEP)),
            64,
            7,
            8);
    var made = new MockEngine(config, oracle, new Xxh3BlockHashing(), memory, time);
    made.start(heard);
    return made;
  }

  @AfterEach
  void close() {
    engine.close();
    assertThat(memory.regions()).allMatch(HeapMemory.HeapRegion::isClosed);
  }

  private Collected run(int[] prompt, int budget) {
    var got = Collected.all(engine.generate(Requests.of(prompt, budget), Requests.context()));
    time.advance(Duration.ofSeconds(10));
    assertThat(got.isEnded()).isTrue();
    return got;
  }

  @Test
  void tokensAreTheOraclesAndTheBudgetEndsThem() {
    var prompt = Requests.prompt(1, 9);
    var got = run(prompt, 20);
    assertThat(got.tokens()).isEqualTo(oracle.continuation(7, prompt, 20));
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(got.last().usage()).isEqualTo(new Usage(9, 20, 0));
    assertThat(got.items().getFirst().usage()).isEqualTo(new Usage(9, 1, 0));
  }

  @Test
  void logprobsAreToldWhenAskedAndTheSameAcrossASeam() {
    var prompt = Requests.prompt(1, 9);
    var whole = rated(prompt, 6);
    assertThat(whole).hasSize(6).allSatisfy(it -> assertThat(it.top().getFirst()).hasSize(3));
    var ids = oracle.continuation(7, prompt, 6);
    for (int i = 0; i < 6; i++) {
      var top = whole.get(i).top().getFirst();
      assertThat(top.getFirst().tokenId()).isEqualTo(ids[i]);
      assertThat(top).extracting(Logprobs.Top::tokenId).doesNotHaveDuplicates();
      assertThat(top.getFirst().logprob()).isNegative().isGreaterThan(top.get(1).logprob());
    }
    var beginning = Arrays.copyOf(prompt, 11);
    System.arraycopy(ids, 0, beginning, 9, 2);
    assertThat(rated(beginning, 4))
        .extracting(it -> Objects.requireNonNull(it.tokens())[0])
        .isEqualTo(
            whole.subList(2, 6).stream()
                .map(it -> Objects.requireNonNull(it.tokens())[0])
                .toList());
    assertThat(run(prompt, 2).items()).allSatisfy(it -> assertThat(it.logprobs()).isNull());
  }

  private List<Logprobs> rated(int[] prompt, int budget) {
    var plain = Requests.of(prompt, budget);
    var asking =
        new GenerateRequest(
            plain.model(),
            plain.tokenIds(),
            plain.stop(),
            plain.sampling(),
            new OutputOptions(3, null),
            plain.eosTokenIds(),
            null,
            List.of(),
            plain.routing(),
            plain.extraArgs());
    var got = Collected.all(engine.generate(asking, Requests.context()));
    time.advance(Duration.ofSeconds(10));
    return got.items().stream().map(it -> Objects.requireNonNull(it.logprobs())).toList();
  }

  @Test
  void imagesArePartOfTheBlocks() {
    int[] prompt = {1, 2, 99, 3, 4}; // 99 stands for an image
    var first = with(prompt, 1, 2, 1_000_007, 1_000_007, 1_000_007, 1_000_007, 1_000_007, 3, 4);
    var other = with(prompt, 1, 2, 1_000_008, 1_000_008, 1_000_008, 1_000_008, 1_000_008, 3, 4);

    assertThat(answered(first).usage()).isEqualTo(new Usage(9, 2, 0));
    assertThat(heard.present)
        .contains(
            new SequenceHash(BlockHasher.of(4).hash(ExpandedPrompt.tokensOf(first)).sequence(1)));
    assertThat(answered(other).usage()).isEqualTo(new Usage(9, 2, 0));
    assertThat(answered(first).usage()).isEqualTo(new Usage(9, 2, 8));
  }

  private static GenerateRequest with(int[] prompt, int... expanded) {
    return Requests.of(prompt, 2)
        .passing(ExpandedPrompt.FIELD, new ExpandedPrompt(expanded).toField(4));
  }

  private EngineOutput answered(GenerateRequest request) {
    var got = Collected.all(engine.generate(request, Requests.context()));
    time.advance(Duration.ofSeconds(10));
    return got.last();
  }

  @Test
  void continuedRequestGoesOnAsIfUnbroken() {
    var prompt = Requests.prompt(1, 9);
    var whole = run(prompt, 20).tokens();
    var delivered = Arrays.copyOf(whole, 6);
    var rest =
        Collected.all(
            engine.generate(Requests.of(prompt, 20).continuedBy(delivered), Requests.context()));
    time.advance(Duration.ofSeconds(1));
    assertThat(rest.tokens()).isEqualTo(Arrays.copyOfRange(whole, 6, 20));
  }

  @Test
  void lostTokenChangesAllThatFollows() {
    var prompt = Requests.prompt(1, 9);
    var without = new int[] {1, 2, 3, 4, 6, 7, 8, 9};
    assertThat(oracle.continuation(7, prompt, 30))
        .isNotEqualTo(oracle.continuation(7, without, 30));
  }

  @Test
  void continuationAfterTheLastTokenIsOnlyAnEnd() {
    var got = run(Requests.prompt(1, 5), 0);
    assertThat(got.items()).hasSize(1);
    assertThat(got.tokens()).isEmpty();
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
  }

  @Test
  void stopTokenEndsTheTextBeforeIt() {
    var prompt = Requests.prompt(1, 9);
    var expected = oracle.continuation(7, prompt, 20);
    var got =
        Collected.all(engine.generate(Requests.of(prompt, 20, expected[3]), Requests.context()));
    time.advance(Duration.ofSeconds(1));
    int before = 0;
    while (expected[before] != expected[3]) {
      before++;
    }
    assertThat(got.tokens()).isEqualTo(Arrays.copyOf(expected, before));
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.STOP);
  }

  @Test
  void firstTokenWaitsForThePrefillAndTheOthersForTheirSteps() {
    var got = Collected.all(engine.generate(request(10, 5), Requests.context()));
    time.advance(Duration.ofMillis(9));
    assertThat(got.tokens()).isEmpty();
    assertThat(engine.ranks().getFirst().prefillTokens()).isEqualTo(10);
    time.advance(Duration.ofMillis(1));
    assertThat(got.tokens()).hasSize(1);
    time.advance(STEP.minusNanos(1));
    assertThat(got.tokens()).hasSize(1);
    time.advance(Duration.ofNanos(1));
    assertThat(got.tokens()).hasSize(2);
    time.advance(STEP.multipliedBy(3));
    assertThat(got.isEnded()).isTrue();
  }

  @Test
  void samePromptAgainFindsItsBlocks() {
    run(Requests.prompt(1, 17), 4);
    var again = run(Requests.prompt(1, 17), 4);
    assertThat(again.last().usage()).isEqualTo(new Usage(17, 4, 16));
    assertThat(again.tokens()).isEqualTo(oracle.continuation(7, Requests.prompt(1, 17), 4));
    assertThat(heard.log).containsExactly("stored 4 on 0", "stored 1 on 0");
  }

  @Test
  void wholeBlocksOfPromptLeaveOneTokenToCompute() {
    run(Requests.prompt(1, 16), 4);
    assertThat(run(Requests.prompt(1, 16), 4).last().usage()).isEqualTo(new Usage(16, 4, 12));
  }

  @Test
  void blocksHoldBytesMadeFromTheirTokens() {
    var prompt = Requests.prompt(1, 5);
    run(prompt, 1);
    var hashing = new Xxh3BlockHashing();
    var expected = ByteBuffer.allocate(BLOCK_BYTES);
    BlockContent.fill(expected, hashing.sequence(null, hashing.block(prompt, 0, 4)), prompt, 0, 4);
    var found = ByteBuffer.allocate(BLOCK_BYTES);
    memory.regions().getFirst().read(0, found);
    assertThat(found.array()).isEqualTo(expected.array());
    assertThat(new HashSet<>(Arrays.asList(found.getLong(0), found.getLong(8)))).hasSize(2);
  }

  @Test
  void spoiledBlockEndsTheRequestThatWouldReuseItAndIsDropped() {
    run(Requests.prompt(1, 17), 1);
    memory.regions().getFirst().spoil(3);
    var got = run(Requests.prompt(1, 17), 1);
    assertThat(got.failure()).isInstanceOf(EngineFailedException.class);
    assertThat(heard.log).last().isEqualTo("removed 1 on 0");
    assertThat(engine.ranks().getFirst().corruptBlocks()).isEqualTo(1);
    assertThat(run(Requests.prompt(1, 17), 1).last().usage()).isEqualTo(new Usage(17, 1, 0));
    assertThat(engine.running()).isZero();
  }

  @Test
  void longestUnusedBlocksAreEvictedSuffixFirst() {
    var small = engine(1, 2, 2, 6);
    generate(small, 1, 13, 1); // 4 blocks, 3 of them full
    generate(small, 200, 9, 1); // 3 blocks: the two remaining ones and the free one
    assertThat(heard.log).containsExactly("stored 3 on 0", "stored 2 on 0");
    generate(small, 400, 9, 1); // needs the suffix of the first
    assertThat(heard.log)
        .containsExactly(
            "stored 3 on 0", "stored 2 on 0", "removed 1 on 0", "removed 1 on 0", "stored 2 on 0");
    var again = generate(small, 1, 13, 1);
    assertThat(again.last().usage()).isEqualTo(new Usage(13, 1, 4));
    small.close();
  }

  private Collected generate(MockEngine on, int first, int length, int budget) {
    var got =
        Collected.all(
            on.generate(Requests.of(Requests.prompt(first, length), budget), Requests.context()));
    time.advance(Duration.ofSeconds(2));
    assertThat(got.isEnded()).isTrue();
    return got;
  }

  @Test
  void twinsShareOneCopyOfTheirBlocks() {
    var one = Collected.all(engine.generate(request(17, 4), Requests.context()));
    var two = Collected.all(engine.generate(request(17, 4), Requests.context()));
    time.advance(Duration.ofMillis(17));
    assertThat(engine.ranks().getFirst().heldBlocks()).isEqualTo(6); // 4 shared, 2 of their own
    time.advance(Duration.ofSeconds(1));
    assertThat(one.tokens()).isEqualTo(two.tokens()).hasSize(4);
    assertThat(engine.ranks().getFirst().heldBlocks()).isZero();
    assertThat(heard.present).hasSize(5);
  }

  @Test
  void clearedCacheFindsNothing() {
    run(Requests.prompt(1, 17), 4);
    engine.clearCache();
    time.settle();
    assertThat(heard.log).last().isEqualTo("cleared 0");
    assertThat(run(Requests.prompt(1, 17), 4).last().usage()).isEqualTo(new Usage(17, 4, 0));
  }

  @Test
  void withoutDemandTheBufferFillsAndTheSequencePauses() {
    var slow = Collected.from(engine.generate(request(4, 100), Requests.context()), 0);
    time.advance(Duration.ofSeconds(1));
    int ticks = time.ticks();
    time.advance(Duration.ofSeconds(60));
    assertThat(time.ticks()).as("ticks while paused").isEqualTo(ticks);
    assertThat(engine.ranks().getFirst().running()).isEqualTo(1);
    slow.request(100);
    assertThat(slow.tokens()).as("what was buffered").hasSize(8);
    time.advance(Duration.ofSeconds(1));
    assertThat(slow.isEnded()).isTrue();
    assertThat(slow.tokens()).isEqualTo(oracle.continuation(7, Requests.prompt(1, 4), 100));
  }

  @Test
  void cancelWhilePausedFreesAtOnceAndIsToldLast() {
    var context = Requests.context();
    var slow = Collected.from(engine.generate(request(4, 100), context), 0);
    time.advance(Duration.ofSeconds(1));
    context.cancellation().stop();
    time.settle();
    assertThat(engine.running()).isZero();
    assertThat(engine.ranks().getFirst().heldBlocks()).isZero();
    slow.request(100);
    assertThat(slow.isEnded()).isTrue();
    assertThat(slow.tokens()).hasSize(8);
    assertThat(slow.last().finishReason()).isEqualTo(FinishReason.CANCELLED);
  }

  @Test
  void cancelIsHeardWhileQueuedDuringPrefillAndDuringDecode() {
    var decoding = Requests.context();
    var prefilling = Requests.context();
    var queued = Requests.context();
    var one = Collected.all(engine.generate(request(4, 100), decoding));
    var two = Collected.all(engine.generate(request(100, 40), prefilling));
    var three = Collected.all(engine.generate(request(4, 100), queued));
    time.advance(Duration.ofMillis(50));
    assertThat(engine.ranks().getFirst().waiting()).isEqualTo(1);
    queued.cancellation().kill();
    prefilling.cancellation().kill();
    decoding.cancellation().kill();
    time.settle();
    for (var got : List.of(one, two, three)) {
      assertThat(got.last().finishReason()).isEqualTo(FinishReason.CANCELLED);
      assertThat(got.isEnded()).isTrue();
    }
    assertThat(engine.cancelled()).isEqualTo(3);
    assertThat(engine.lastCancelNanos()).isNotZero();
    assertThat(engine.running()).isZero();
    assertThat(engine.ranks().getFirst().heldBlocks()).isZero();
  }

  @Test
  void droppedSubscriptionFreesTheSlot() {
    var got = Collected.all(engine.generate(request(4, 100), Requests.context()));
    time.advance(Duration.ofMillis(50));
    got.cancel();
    time.settle();
    assertThat(engine.running()).isZero();
    assertThat(engine.cancelled()).isEqualTo(1);
  }

  @Test
  void deadlineEndsAStreamThatNobodyReads() {
    var got =
        Collected.from(
            engine.generate(request(4, 100), Requests.context(Duration.ofSeconds(3))), 0);
    time.advance(Duration.ofSeconds(4));
    assertThat(engine.running()).isZero();
    got.request(100);
    assertThat(got.failure()).isInstanceOf(DeadlineExceededException.class);
  }

  @Test
  void fullQueueSendsTheRequestElsewhere() {
    for (int i = 0; i < 4; i++) {
      var unused = engine.generate(request(4, 100), Requests.context());
      assertThat(unused).isNotNull();
    }
    assertThatThrownBy(() -> engine.generate(request(4, 100), Requests.context()))
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("4 generations");
    assertThat(engine.running()).isEqualTo(4);
  }

  @Test
  void sequencesWaitForBlocksRatherThanFail() {
    var small = engine(1, 2, 2, 6);
    var one = Collected.all(small.generate(request(13, 4), Requests.context()));
    var other = Requests.of(Requests.prompt(300, 13), 4);
    var two = Collected.all(small.generate(other, Requests.context()));
    time.advance(Duration.ofMillis(15));
    assertThat(small.ranks().getFirst().waiting()).isEqualTo(1);
    time.advance(Duration.ofSeconds(1));
    assertThat(one.tokens()).hasSize(4);
    assertThat(two.tokens()).isEqualTo(oracle.continuation(7, Requests.prompt(300, 13), 4));
    small.close();
  }

  @Test
  void preemptedSequencesGoOnWithTheSameTokens() {
    var small = engine(1, 2, 2, 6);
    var one = Collected.all(small.generate(request(8, 12), Requests.context()));
    var other = Requests.of(Requests.prompt(300, 8), 12);
    var two = Collected.all(small.generate(other, Requests.context()));
    time.advance(Duration.ofSeconds(1));
    assertThat(small.preemptions()).isPositive();
    assertThat(one.tokens()).isEqualTo(oracle.continuation(7, Requests.prompt(1, 8), 12));
    assertThat(two.tokens()).isEqualTo(oracle.continuation(7, Requests.prompt(300, 8), 12));
    assertThat(small.ranks().getFirst().heldBlocks()).isZero();
    small.close();
  }

  @Test
  void impossibleRequestsAreRefusedWithTheirNumbers() {
    assertThatThrownBy(() -> engine.generate(request(900, 101), Requests.context()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("900")
        .hasMessageContaining("101")
        .hasMessageContaining("1000");
    assertThatThrownBy(() -> engine.generate(request(250, 100), Requests.context()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("88 KV blocks; a rank has 64");
    assertThatThrownBy(() -> engine.generate(request(0, 5), Requests.context()))
        .isInstanceOf(InvalidRequestException.class);
    assertThat(engine.running()).isZero();
  }

  @Test
  void ranksAreIndependentAndTheLeastLoadedIsTaken() {
    var two = engine(2, 2, 2, 64);
    Collected.all(two.generate(request(17, 50), Requests.context()));
    var other = Requests.of(Requests.prompt(300, 17), 50);
    Collected.all(two.generate(other, Requests.context()));
    time.advance(Duration.ofMillis(100));
    assertThat(two.ranks()).allMatch(rank -> rank.running() == 1);
    assertThat(memory.regions()).hasSize(3);
    two.close();
  }

  @Test
  void manyStreamsShareTheirTicks() {
    var wide = engine(1, 512, 0, 512 * 10);
    var all = new ArrayList<Collected>();
    for (int i = 0; i < 512; i++) {
      var request = Requests.of(Requests.prompt(1 + 10 * i, 4), 20);
      all.add(Collected.all(wide.generate(request, Requests.context())));
    }
    int before = time.ticks();
    time.advance(Duration.ofSeconds(3)); // the prompts take 2 s
    assertThat(all).allMatch(Collected::isEnded);
    assertThat(time.ticks() - before).isLessThan(40);
    wide.close();
  }

  private static GenerateRequest request(int promptTokens, int budget) {
    return Requests.of(Requests.prompt(1, promptTokens), budget);
  }

  @Test
  void blocksAreSharedOnlyWithinOneAdapterAndSalt() {
    run(Requests.prompt(1, 9), 1);
    for (var hints :
        List.<Map<String, Object>>of(
            Map.of("lora_name", "ad"),
            Map.of("cache_salt", "s"),
            Map.of("lora_name", "ad", "cache_salt", "s"))) {
      assertThat(within(hints).last().usage()).as("%s, new", hints).isEqualTo(new Usage(9, 1, 0));
      assertThat(within(hints).last().usage()).as("%s", hints).isEqualTo(new Usage(9, 1, 8));
    }
    var names = BlockHasher.of(4, "ad", "s").hash(Requests.prompt(1, 9));
    assertThat(heard.present).contains(new SequenceHash(names.sequence(1)));
  }

  private Collected within(Map<String, Object> hints) {
    var request =
        Requests.of(Requests.prompt(1, 9), 1).routedTo(new RoutingHints(null, PassedOn.of(hints)));
    var got = Collected.all(engine.generate(request, Requests.context()));
    time.advance(Duration.ofSeconds(10));
    return got;
  }
}
