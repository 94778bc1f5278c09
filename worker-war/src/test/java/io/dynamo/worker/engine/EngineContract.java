package io.dynamo.worker.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.RoutingHints;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rules that every engine keeps for its worker. */
public abstract class EngineContract {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int LONG = 480;

  /** Ignores all events. */
  public static final KvEventSink DEAF =
      new KvEventSink() {
        @Override
        public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {}

        @Override
        public void removed(int rank, List<SequenceHash> blocks) {}

        @Override
        public void cleared(int rank) {}
      };

  private Engine engine;

  /** Returns an engine that was not started, with a context of 1000 tokens or more. */
  protected abstract Engine newEngine();

  @BeforeEach
  void fresh() {
    engine = newEngine();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void startTellsItsLimits() {
    var description = engine.start(DEAF);
    assertThat(description.contextLength()).isPositive();
    assertThat(description.blockTokens()).isPositive();
    assertThat(description.totalBlocks()).isPositive();
    assertThat(description.ranks()).isPositive();
    assertThat(description.maxRunning()).isPositive();
  }

  @Test
  void oneGenerationEndsOnceAndItsUsageCounts() throws Exception {
    engine.start(DEAF);
    var got = Collected.all(engine.generate(prompt(8), Requests.context())).ended();
    assertThat(got.failure()).isNull();
    assertLawful(got, 3);
    assertThat(got.tokens()).hasSizeBetween(1, 8);
  }

  @Test
  void twoGenerationsAtOnceBothEnd() throws Exception {
    engine.start(DEAF);
    var one = Collected.all(engine.generate(prompt(8), Requests.context()));
    var two = Collected.all(engine.generate(prompt(8), Requests.context()));
    assertLawful(one.ended(), 3);
    assertLawful(two.ended(), 3);
  }

  @Test
  void cancelEndsTheStreamAsCancelled() throws Exception {
    engine.start(DEAF);
    var context = Requests.context();
    var got = Collected.all(engine.generate(longRun(), context)).begun();
    context.cancellation().stop();
    assertLawful(got.ended(), LONG);
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.CANCELLED);
    assertThat(engine.running()).isZero();
  }

  @Test
  void cancelBeforeTheBeginningEndsTheStreamAsCancelled() throws Exception {
    engine.start(DEAF);
    var context = Requests.context();
    context.cancellation().kill();
    var got = Collected.all(engine.generate(longRun(), context)).ended();
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.CANCELLED);
    assertLawful(got, LONG);
  }

  @Test
  void slowReaderLosesNothing() throws Exception {
    engine.start(DEAF);
    var request = Requests.endless(Requests.prompt(1, 100), 100);
    var whole = Collected.all(engine.generate(request, Requests.context())).ended();
    var slow = Collected.from(engine.generate(request, Requests.context()), 1).begun();
    assertThat(slow.items()).hasSize(1);
    slow.request(Long.MAX_VALUE);
    assertThat(slow.ended().tokens()).isEqualTo(whole.tokens());
    assertLawful(slow, 100);
  }

  @Test
  void abandonedStreamFreesItsPlace() throws Exception {
    engine.start(DEAF);
    var got = Collected.all(engine.generate(longRun(), Requests.context())).begun();
    got.cancel();
    var next = Collected.all(engine.generate(prompt(8), Requests.context())).ended();
    assertLawful(next, 3);
    awaitIdle(); // the next one may have run on another rank
  }

  private void awaitIdle() {
    long begun = System.nanoTime();
    while (engine.running() > 0) {
      assertThat(System.nanoTime() - begun).as("running").isLessThan(PATIENCE.toNanos());
      Thread.onSpinWait();
    }
  }

  @Test
  void budgetOfNothingIsOnlyAnEnd() throws Exception {
    engine.start(DEAF);
    var got = Collected.all(engine.generate(prompt(0), Requests.context())).ended();
    assertThat(got.tokens()).isEmpty();
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
    assertLawful(got, 3);
  }

  @Test
  void unknownRankIsTheRequestersFault() {
    var description = engine.start(DEAF);
    var request = prompt(8).routedTo(new RoutingHints(description.ranks()));
    assertThatThrownBy(() -> engine.generate(request, Requests.context()))
        .isInstanceOf(InvalidRequestException.class);
  }

  @Test
  void promptBeyondTheContextIsTheRequestersFault() {
    var description = engine.start(DEAF);
    var request = Requests.of(Requests.prompt(1, description.contextLength() + 1), 1);
    assertThatThrownBy(() -> engine.generate(request, Requests.context()))
        .isInstanceOf(InvalidRequestException.class);
  }

  @Test
  void closeEndsWhatRunsSoThatItCanMigrate() throws Exception {
    engine.start(DEAF);
    var got = Collected.all(engine.generate(longRun(), Requests.context())).begun();
    engine.close();
    assertThat(got.ended().failure()).isInstanceOf(Migratable.class);
  }

  @Test
  void closeTwiceAndCloseWithoutStartAreAllowed() {
    newEngine().close();
    engine.start(DEAF);
    engine.close();
    engine.close();
    assertThatThrownBy(() -> engine.generate(prompt(8), Requests.context()))
        .isInstanceOf(Migratable.class);
  }

  private static GenerateRequest prompt(int maxTokens) {
    return Requests.endless(new int[] {1, 2, 3}, maxTokens);
  }

  /** Returns a request that does not end before a test can observe it. */
  private static GenerateRequest longRun() {
    return Requests.endless(Requests.prompt(1, LONG), LONG);
  }

  /**
   * Asserts that one item has a finish reason, that it is last, and that the counts match the
   * tokens.
   */
  static void assertLawful(Collected got, int promptTokens) {
    var items = got.items();
    assertThat(items).isNotEmpty();
    assertThat(items.stream().map(EngineOutput::finishReason).filter(Objects::nonNull)).hasSize(1);
    assertThat(got.last().finishReason()).isNotNull();
    var usage = got.last().usage();
    assertThat(usage).isNotNull();
    assertThat(Objects.requireNonNull(usage).completionTokens()).isEqualTo(got.tokens().length);
    assertThat(usage.promptTokens()).isEqualTo(promptTokens);
  }
}
