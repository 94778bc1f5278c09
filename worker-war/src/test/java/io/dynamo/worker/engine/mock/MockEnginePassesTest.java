package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.ForwardPass;
import io.dynamo.kv.ForwardPass.Work;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the mock engine's reports of its passes: 2 slots, blocks of 4 tokens, 1 ms per prompt
 * token.
 */
class MockEnginePassesTest {
  private static final class Deaf implements KvEventSink {
    @Override
    public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {}

    @Override
    public void removed(int rank, List<SequenceHash> blocks) {}

    @Override
    public void cleared(int rank) {}
  }

  private static final Duration STEP = Duration.ofMillis(5);

  private final ManualPacer time = new ManualPacer();
  private final List<ForwardPass> passes = new ArrayList<>();
  private final MockEngine engine =
      new MockEngine(
          new MockEngineConfig(
              1,
              2,
              8,
              1000,
              4,
              64,
              64,
              Scheduling.of(new PassTiming.Linear(Duration.ofMillis(1), STEP)),
              64,
              7,
              8),
          new OracleTokens(Requests.prompt(100, 50)),
          new Xxh3BlockHashing(),
          new HeapMemory(),
          time);

  MockEnginePassesTest() {
    engine.start(new Deaf());
    engine.reportPassesTo((rank, pass) -> passes.add(pass));
    time.settle();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void ask(int first, int tokens, int budget) {
    Collected.all(
        engine.generate(Requests.of(Requests.prompt(first, tokens), budget), Requests.context()));
  }

  private List<ForwardPass> after(Duration duration) {
    time.advance(duration);
    var copy = List.copyOf(passes);
    passes.clear();
    return copy;
  }

  private static Work prefill(int requests, int tokens, double variance, int cached) {
    return new Work(requests, tokens, variance, cached, 0, 0, 0);
  }

  private static Work decode(int requests, int tokens, double variance) {
    return new Work(0, 0, 0, 0, requests, tokens, variance);
  }

  private static Work queued(int requests, int tokens, double variance) {
    return new Work(requests, tokens, variance, 0, 0, 0, 0);
  }

  @Test
  void aPromptIsPrefilledOnceAndThenDecodedTokenByToken() {
    ask(1, 10, 3);

    assertThat(after(Duration.ofSeconds(1)))
        .containsExactly(
            new ForwardPass(0.010, prefill(1, 10, 0, 0), Work.NONE),
            new ForwardPass(0.005, decode(1, 11, 0), Work.NONE),
            new ForwardPass(0.005, decode(1, 12, 0), Work.NONE));
  }

  @Test
  void cachedBlocksAreReadInsteadOfComputed() {
    ask(1, 10, 1);
    after(Duration.ofSeconds(1));

    ask(1, 10, 1);

    assertThat(after(Duration.ofSeconds(1)))
        .containsExactly(new ForwardPass(0.002, prefill(1, 2, 0, 8), Work.NONE));
  }

  @Test
  void requestsWithoutAPlaceAreQueuedPrefills() {
    ask(1, 10, 2);
    ask(200, 10, 2);
    ask(300, 8, 1);
    ask(400, 12, 1);

    var copy = after(Duration.ofSeconds(1));

    assertThat(copy.get(0))
        .isEqualTo(new ForwardPass(0.020, prefill(2, 20, 0, 0), queued(2, 20, 4)));
    assertThat(copy.get(1)).isEqualTo(new ForwardPass(0.005, decode(2, 22, 0), queued(2, 20, 4)));
    assertThat(copy.stream().mapToLong(pass -> pass.scheduled().prefillTokens()).sum())
        .as("every prompt token is computed once")
        .isEqualTo(40);
    assertThat(copy.getLast().queued()).isEqualTo(Work.NONE);
  }

  @Test
  void variancesAreOfTheWholePopulation() {
    ask(1, 6, 9);
    after(Duration.ofMillis(6));
    ask(200, 2, 9);

    assertThat(after(Duration.ofSeconds(1)))
        .contains(new ForwardPass(0.005, decode(2, 9 + 3, 9), Work.NONE))
        .allSatisfy(pass -> assertThat(pass.scheduled().decodes()).isLessThanOrEqualTo(2));
  }

  @Test
  void aRequestThatComesDuringAPassJoinsTheNextAndItsPromptIsAddedToTheStep() {
    ask(1, 6, 9);
    after(Duration.ofMillis(6));
    ask(200, 2, 9);
    assertThat(after(Duration.ofMillis(12)))
        .containsExactly(
            new ForwardPass(0.005, decode(1, 7, 0), Work.NONE),
            new ForwardPass(0.007, new Work(1, 2, 0, 0, 1, 8, 0), Work.NONE));
  }

  @Test
  void anIdleEngineHasNoPasses() {
    assertThat(after(Duration.ofMinutes(1))).isEmpty();
  }
}
