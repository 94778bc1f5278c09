package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.inference.FinishReason;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the faults with a token each millisecond. */
class FaultyMockEngineTest {
  private static final Duration STEP = Duration.ofMillis(1);

  @TempDir Path folder;
  private final ManualPacer time = new ManualPacer();
  private final AtomicInteger passes = new AtomicInteger();
  private Path file;
  private FaultyMockEngine engine;

  @BeforeEach
  void start() {
    file = folder.resolve("fault");
    engine =
        new FaultyMockEngine(
            new MockEngine(
                new MockEngineConfig(
                    1,
                    4,
                    4,
                    1000,
                    4,
                    64,
                    64,
                    Scheduling.of(new PassTiming.Linear(STEP, STEP)),
                    64,
                    7,
                    8),
                new OracleTokens(new int[] {10, 11, 12}),
                new Xxh3BlockHashing(),
                new HeapMemory(),
                time),
            new FaultSwitch(file));
    engine.start(EngineContract.DEAF);
    engine.reportPassesTo((rank, pass) -> passes.incrementAndGet());
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void fail(String how) throws Exception {
    Files.writeString(file, how + "\n");
  }

  private Collected ask() {
    return Collected.all(
        engine.generate(Requests.endless(new int[] {1, 2}, 5), Requests.context()));
  }

  @Test
  void withoutAFileItIsAnEngineLikeOthers() {
    var got = ask();
    time.advance(Duration.ofSeconds(1));
    assertThat(got.tokens()).hasSize(5);
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(passes).hasValue(5);
  }

  @Test
  void throwingItAnswersNobodyAndWhatRunsGoesOn() throws Exception {
    var running = ask();
    fail("throws");
    assertThatThrownBy(this::ask)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("an injected fault");
    time.advance(Duration.ofSeconds(1));
    assertThat(running.tokens()).hasSize(5);
  }

  @Test
  void hangingItStandsStillForGoodAndTellsOfNoPass() throws Exception {
    var running = ask();
    time.advance(Duration.ofMillis(3));
    int before = running.items().size();
    int passesBefore = passes.get();
    fail("hangs");
    time.advance(Duration.ofSeconds(1));
    Files.delete(file);
    time.advance(Duration.ofSeconds(1));
    assertThat(running.items()).hasSize(before);
    assertThat(running.isEnded()).isFalse();
    assertThat(passes).hasValue(passesBefore);
    var next = ask();
    time.advance(Duration.ofSeconds(1));
    assertThat(next.tokens()).as("once the switch is off").hasSize(5);
  }

  @Test
  void breakingItEndsStreamsWithoutAType() throws Exception {
    var running = ask();
    fail("breaks");
    time.advance(Duration.ofSeconds(1));
    assertThat(running.failure()).isInstanceOf(IllegalStateException.class);
    assertThat(engine.running()).isZero();
  }

  @Test
  void poisoningItMakesTokensOfNoVocabulary() throws Exception {
    var running = ask();
    fail("poisons");
    time.advance(Duration.ofMillis(2));
    assertThat(running.tokens()).containsExactly(Integer.MAX_VALUE);
  }

  @Test
  void aWordThatItDoesNotKnowIsRefusedWithThoseThatItDoes() throws Exception {
    fail("sulks");
    assertThatThrownBy(this::ask)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sulks")
        .hasMessageContaining("HANGS");
  }
}
