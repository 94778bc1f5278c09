package io.dynamo.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.RoutingHints;
import io.dynamo.worker.FaultyEngine.Mode;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.Requests;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests how an engine's failure appears to requesters and routers, and that the worker recovers.
 */
class FailingEngineTest {
  private static final Duration WAIT = Duration.ofSeconds(10); // from one probe to the next
  private static final Duration PROBE = Duration.ofSeconds(3); // a probe's deadline

  private final FaultyEngine engine = new FaultyEngine();
  private TestWorker worker = new TestWorker(engine::parts, false).started();

  @AfterEach
  void close() {
    worker.close();
  }

  private Collected ask() {
    return worker.generate(Requests.of(new int[] {1}, 5));
  }

  private Collected ask(int rank) {
    return worker.generate(Requests.of(new int[] {1}, 5).routedTo(new RoutingHints(rank)));
  }

  private void assertComesBack() {
    assertThat(worker.isFound()).isFalse();
    assertThat(worker.service.isReady()).isFalse();
    worker.alarms.advance(WAIT.multipliedBy(3));
    assertThat(worker.isFound()).as("it is no better yet").isFalse();
    engine.mode = Mode.WELL;
    worker.alarms.advance(WAIT);
    assertThat(worker.isFound()).isTrue();
    assertThat(worker.service.isReady()).isTrue();
    assertThat(ask().tokens()).containsExactly(1, 2);
  }

  @ParameterizedTest
  @EnumSource(
      value = Mode.class,
      names = {
        "BREAKS_IN_THE_MIDDLE",
        "ENDS_WITHOUT_A_REASON",
        "MAKES_UNKNOWN_TOKENS",
        "COMPUTES_NAN"
      })
  void anAnswerThatCannotBeUsedEndsSoThatItMigratesAndTheWorkerIsOutUntilItIsWell(Mode mode) {
    engine.mode = mode;
    var got = ask();
    assertThat(got.failure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_STREAM_INCOMPLETE));
    boolean poisoned = mode == Mode.MAKES_UNKNOWN_TOKENS || mode == Mode.COMPUTES_NAN;
    assertThat(got.items()).hasSize(poisoned ? 0 : 1);
    worker.alarms.advance(PROBE);
    if (poisoned) {
      assertComesBack();
    } else {
      assertThat(worker.isFound()).as("the probe got its token").isTrue();
    }
  }

  @Test
  void anEngineThatThrowsIsAnsweredForSoThatTheRequestMigrates() {
    engine.mode = Mode.THROWS;
    assertThatThrownBy(this::ask)
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_STREAM_INCOMPLETE))
        .hasMessageNotContaining("a bug");
    worker.alarms.advance(PROBE);
    assertComesBack();
  }

  @Test
  void aFailureThatTheEngineTellsOfIsPassedOnAndProbed() {
    engine.mode = Mode.SAYS_THAT_IT_FAILED;
    assertThat(ask().last().finishReason()).isEqualTo(FinishReason.ERROR);
    worker.alarms.advance(PROBE);
    assertComesBack();
  }

  @Test
  void oneBadRequestTakesNoHealthyWorkerOut() {
    engine.mode = Mode.THROWS;
    assertThatThrownBy(this::ask).isInstanceOf(WorkerLostException.class);
    engine.mode = Mode.WELL;
    worker.alarms.advance(PROBE);
    assertThat(engine.asked).as("it was probed").hasSize(2);
    assertThat(worker.isFound()).isTrue();
  }

  @Test
  void nothingFollowsTheLastItem() {
    engine.mode = Mode.GOES_ON_AFTER_THE_END;
    var got = ask();
    assertThat(got.tokens()).containsExactly(1);
    assertThat(got.failure()).isNull();
    assertThat(got.isEnded()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHangEndsAllThatWaitInBoundedTimeAndTheWorkerIsOutUntilItAnswers(boolean canaries) {
    worker.close();
    worker = new TestWorker(engine::parts, canaries).started();
    assertThat(ask().tokens()).hasSize(2);
    engine.mode = Mode.HANGS;
    var one = ask(0);
    var two = ask(0);
    var other = ask(1);
    worker.alarms.advance(Duration.ofSeconds(20));
    engine.pass(1);
    assertThat(one.isEnded()).isFalse();
    worker.alarms.advance(Duration.ofSeconds(20));
    for (var lost : new Collected[] {one, two}) {
      assertThat(lost.failure())
          .isInstanceOfSatisfying(
              WorkerLostException.class,
              it -> assertThat(it.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
    }
    assertThat(other.isEnded()).as("a rank whose passes go on").isFalse();
    assertThatThrownBy(() -> ask(0)).isInstanceOf(WorkerLostException.class);
    other.cancel();
    assertComesBack();
    assertThat(ask(0).tokens()).hasSize(2);
  }

  @Test
  void aRankThatHangsKeepsTheWorkerOutWhateverOtherRanksDo() {
    engine.hangingRanks.add(0);
    ask(0);
    worker.alarms.advance(TestWorker.STALL.plus(WAIT));
    assertThat(worker.isFound()).isFalse();
    assertThat(ask(1).tokens()).hasSize(2);
    worker.alarms.advance(WAIT.multipliedBy(4));
    assertThat(worker.isFound()).isFalse();
    assertThat(engine.asked.getLast().routing().rank()).as("who is probed").isEqualTo(0);
    engine.hangingRanks.clear();
    worker.alarms.advance(WAIT);
    assertThat(worker.isFound()).isTrue();
  }

  @Test
  void anEngineWhoseThreadHasDiedIsOut() {
    engine.mode = Mode.HANGS;
    var running = ask(0);
    engine.die();
    assertThat(running.failure()).isInstanceOf(WorkerLostException.class);
    assertComesBack();
  }

  @Test
  void aReaderWhoAsksForNothingIsNoSignOfAHang() {
    engine.mode = Mode.HANGS;
    var idle =
        Collected.from(
            worker.publisher(Requests.of(new int[] {1}, 5).routedTo(new RoutingHints(0))), 0);
    worker.alarms.advance(TestWorker.STALL.multipliedBy(4));
    assertThat(idle.isEnded()).isFalse();
    assertThat(worker.isFound()).isTrue();
    idle.request(1);
    worker.alarms.advance(TestWorker.STALL);
    worker.alarms.advance(WAIT);
    assertThat(idle.isEnded()).isTrue();
  }

  @Test
  void requestAdmittedBeforeARankHangsFailsInTime() {
    engine.mode = Mode.HANGS;
    var late = worker.publisher(Requests.of(new int[] {1}, 5).routedTo(new RoutingHints(0)));
    ask(0);
    worker.alarms.advance(TestWorker.STALL.plus(WAIT));
    assertThat(worker.isFound()).isFalse();
    var got = Collected.all(late);
    worker.alarms.advance(TestWorker.STALL.plus(WAIT));
    assertThat(got.failure()).isInstanceOf(WorkerLostException.class);
  }

  @Test
  void readersWhoMayHoldTheRoomThatIsWaitedForGetTheirTime() {
    engine.mode = Mode.HANGS;
    var idle =
        Collected.from(
            worker.publisher(Requests.of(new int[] {1}, 5).routedTo(new RoutingHints(0))), 0);
    var waiting = ask(0);
    worker.alarms.advance(TestWorker.STALL.plus(WAIT));
    assertThat(waiting.isEnded()).isFalse();
    worker.alarms.advance(TestWorker.STALL.plus(WAIT));
    assertThat(waiting.failure()).isInstanceOf(WorkerLostException.class);
    assertThat(idle.failure()).isInstanceOf(WorkerLostException.class);
  }
}
