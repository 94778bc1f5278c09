package io.dynamo.request.tcp.silence;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.SilenceSettings;
import io.dynamo.config.plane.TcpTimeouts;
import io.dynamo.request.tcp.silence.AnswerSilence.Stage;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkerContactTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final SilenceSettings SILENCE =
      new SilenceSettings(
          Duration.ofSeconds(3),
          Duration.ofSeconds(2),
          Duration.ofSeconds(30),
          Duration.ZERO,
          Duration.ofSeconds(5));
  private static final TcpTimeouts TIMEOUTS =
      new TcpTimeouts(
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          Duration.ofSeconds(120),
          Duration.ZERO,
          Duration.ofSeconds(30));

  private final AtomicLong now = new AtomicLong(42);
  private final WorkerContact contact = new WorkerContact(SILENCE, TIMEOUTS, now::get);
  private final SilenceRules rules = SilenceRules.of(SILENCE);

  /** An answer at which a test looks once per second together with its worker. */
  private final class ObservedAnswer {
    final AnswerSilence answer = new AnswerSilence();
    private Stage stage = Stage.ACKNOWLEDGED;
    private int reads;

    ObservedAnswer at(Stage reached) {
      stage = reached;
      return this;
    }

    void read() {
      reads++;
    }

    void look() {
      answer.look(stage, reads, reads, false, SECOND);
      contact.look(answer, rules.isSuspect(answer));
    }
  }

  private WorkerContact.@Nullable Probe second(ObservedAnswer... answers) {
    for (var each : answers) {
      each.look();
    }
    now.addAndGet(SECOND);
    return contact.lookEnds(SECOND);
  }

  private void seconds(int count, ObservedAnswer... answers) {
    for (int i = 0; i < count; i++) {
      assertThat(second(answers)).isNull();
    }
  }

  @Test
  void aWorkerThatIsSilentForThreeSecondsIsProbed() {
    var silent = new ObservedAnswer().at(Stage.STARTED);
    seconds(3, silent);
    assertThat(second(silent)).isNotNull();
  }

  @Test
  void twoProbesAreMissedWithinFourSeconds() {
    var silent = new ObservedAnswer().at(Stage.STARTED);
    seconds(3, silent);
    assertThat(second(silent)).as("the first probe").isNotNull();
    seconds(1, silent);
    assertThat(second(silent)).as("the second probe").isNotNull();
    assertThat(contact.missedProbes()).isEqualTo(1);
    seconds(1, silent);
    second(silent);
    assertThat(contact.missedProbes()).isEqualTo(2);
  }

  @Test
  void anAnsweredProbeIsFollowedByTheNextThreeSecondsLater() {
    var silent = new ObservedAnswer().at(Stage.STARTED);
    seconds(3, silent);
    var probe = requireNonNull(second(silent));
    probe.answered();
    seconds(3, silent);
    assertThat(contact.missedProbes()).isZero();
    assertThat(second(silent)).isNotNull();
  }

  @Test
  void aProbeThatFailsCountsAtOnce() {
    var silent = new ObservedAnswer().at(Stage.STARTED);
    seconds(3, silent);
    var probe = requireNonNull(second(silent));
    probe.failed();
    assertThat(second(silent)).as("the second probe").isNotNull();
    assertThat(contact.missedProbes()).isEqualTo(1);
  }

  @Test
  void aProbeThatWasNeverSentSaysNothingOfTheWorker() {
    var silent = new ObservedAnswer().at(Stage.STARTED);
    seconds(3, silent);
    var probe = requireNonNull(second(silent));
    probe.neverSent();
    assertThat(second(silent)).as("another probe").isNotNull();
    assertThat(contact.missedProbes()).isZero();
  }

  @Test
  void anotherAnswerThatFlowsIsASignOfLife() {
    var silent = new ObservedAnswer().at(Stage.STARTED);
    var flowing = new ObservedAnswer().at(Stage.STARTED);
    for (int i = 0; i < 20; i++) {
      flowing.read();
      assertThat(second(silent, flowing)).isNull();
      assertThat(contact.missedProbes()).isZero();
    }
  }

  @Test
  void probesThatWereMissedAreForgottenWhenTheWorkerSpeaks() {
    var silent = new ObservedAnswer().at(Stage.STARTED);
    for (int i = 0; i < 8; i++) {
      second(silent);
    }
    assertThat(contact.missedProbes()).isPositive();
    silent.read();
    second(silent);
    assertThat(contact.missedProbes()).isZero();
  }

  @Test
  void aWorkerThatNeverCallsHomeIsOverdueAfterTheLeast() {
    var waiting = new ObservedAnswer();
    for (int i = 0; i < 5; i++) {
      second(waiting);
      assertThat(contact.overdueNanos(waiting.answer)).isNegative();
    }
    second(waiting);
    assertThat(contact.overdueNanos(waiting.answer)).isEqualTo(5 * SECOND);
  }

  @Test
  void aWorkerThatWasSlowToCallHomeHasMoreTime() {
    contact.calledHome(3 * SECOND);
    var waiting = new ObservedAnswer();
    for (int i = 0; i < 11; i++) {
      second(waiting);
      assertThat(contact.overdueNanos(waiting.answer)).isNegative();
    }
    second(waiting);
    second(waiting);
    assertThat(contact.overdueNanos(waiting.answer)).isPositive();
  }

  @Test
  void aWorkerThatTakesUpOthersWorksThroughItsQueue() {
    var waiting = new ObservedAnswer().at(Stage.CALLED_HOME);
    for (int i = 0; i < 100; i++) {
      if (i % 4 == 0) {
        contact.recordAnswerStart(SECOND / 1000);
      }
      second(waiting);
      assertThat(contact.overdueNanos(waiting.answer)).as("after %d s", i).isNegative();
    }
  }

  @Test
  void aWorkerThatDeliversOtherAnswersMayHaveNoTurnToGiveUntilTheMost() {
    var waiting = new ObservedAnswer();
    var flowing = new ObservedAnswer().at(Stage.STARTED);
    for (int i = 0; i < 60; i++) {
      flowing.read();
      second(waiting, flowing);
      assertThat(contact.overdueNanos(waiting.answer)).as("after %d s", i).isNegative();
    }
    flowing.read();
    second(waiting, flowing);
    assertThat(contact.overdueNanos(waiting.answer)).isEqualTo(60 * SECOND);
  }

  @Test
  void requestsThatAreOnlyAcknowledgedAreNoTurns() {
    var waiting = new ObservedAnswer();
    for (int i = 0; i < 6; i++) {
      second(waiting, new ObservedAnswer()); // one more each second
    }
    assertThat(contact.overdueNanos(waiting.answer)).isPositive();
  }
}
