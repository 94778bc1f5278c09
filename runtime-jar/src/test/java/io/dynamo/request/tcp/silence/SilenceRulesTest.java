package io.dynamo.request.tcp.silence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.SilenceSettings;
import io.dynamo.request.tcp.silence.AnswerSilence.Stage;
import io.dynamo.request.tcp.silence.SilenceRules.Verdict;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SilenceRulesTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final SilenceSettings DEFAULTS =
      new SilenceSettings(
          Duration.ofSeconds(3),
          Duration.ofSeconds(2),
          Duration.ofSeconds(30),
          Duration.ZERO,
          Duration.ofSeconds(5));

  private final SilenceRules rules = SilenceRules.of(DEFAULTS);
  private final AnswerSilence answer = new AnswerSilence();

  private void flow(int items) {
    answer.look(Stage.STARTED, items, items, false, SECOND);
    answer.look(Stage.STARTED, items + 1, items, false, SECOND);
  }

  /** Nothing new comes for {@code seconds} looks of one second. */
  private void silent(int seconds, int reads, int items) {
    for (int i = 0; i < seconds; i++) {
      answer.look(Stage.STARTED, reads, items, false, SECOND);
    }
  }

  @Test
  void anAnswerThatFlowsIsNeverGivenUp() {
    for (int i = 0; i < 100; i++) {
      answer.look(Stage.STARTED, i, i, false, SECOND);
      assertThat(rules.isSuspect(answer)).isFalse();
      assertThat(rules.judge(answer, true, 5)).isNull();
    }
  }

  @Test
  void aSilentAnswerIsGivenUpAfterTwoUnansweredProbes() {
    flow(7);
    silent(3, 8, 7);
    assertThat(rules.isSuspect(answer)).isTrue();
    assertThat(rules.judge(answer, false, 1)).isNull();
    assertThat(rules.judge(answer, false, 2)).isEqualTo(Verdict.UNANSWERED_PROBES);
  }

  @Test
  void oneUnansweredProbeIsEnoughWhenTheWorkerHasLeftDiscovery() {
    flow(7);
    silent(3, 8, 7);
    assertThat(rules.judge(answer, true, 1)).isEqualTo(Verdict.UNANSWERED_PROBES);
  }

  @Test
  void anAnswerThatStopsInTheMiddleEndsWithItsLease() {
    flow(7);
    silent(4, 8, 7);
    assertThat(rules.judge(answer, true, 0)).isNull();
    silent(1, 8, 7);
    assertThat(rules.judge(answer, false, 0)).isNull();
    assertThat(rules.judge(answer, true, 0)).isEqualTo(Verdict.LEFT_DISCOVERY);
  }

  @Test
  void aPromptThatIsWorkedOnHasUntilTheLimitBetweenItemsWhenItsLeaseEnds() {
    answer.look(Stage.STARTED, 1, 0, false, SECOND);
    silent(29, 1, 0);
    assertThat(rules.judge(answer, true, 0)).isNull();
    silent(1, 1, 0);
    assertThat(rules.judge(answer, true, 0)).isEqualTo(Verdict.LEFT_DISCOVERY);
    assertThat(rules.judge(answer, false, 0)).as("the first item has no limit").isNull();
  }

  @Test
  void theNextItemHasALimit() {
    flow(7);
    silent(28, 8, 7);
    assertThat(rules.judge(answer, false, 0)).isNull();
    silent(1, 8, 7);
    assertThat(rules.judge(answer, false, 0)).isEqualTo(Verdict.NO_NEXT_ITEM);
  }

  @Test
  void bytesWithoutAnItemAreNoSilenceButDoNotPutOffTheLimit() {
    flow(7);
    for (int i = 0; i < 30; i++) {
      answer.look(Stage.STARTED, 100 + i, 7, false, SECOND);
      assertThat(rules.isSuspect(answer)).isFalse();
    }
    assertThat(rules.judge(answer, false, 0)).isEqualTo(Verdict.NO_NEXT_ITEM);
  }

  @Test
  void silenceWhileTheRequesterDoesNotReadIsNotTheWorkers() {
    flow(7);
    for (int i = 0; i < 100; i++) {
      answer.look(Stage.STARTED, 8, 7, true, SECOND);
    }
    assertThat(rules.isSuspect(answer)).isFalse();
    assertThat(rules.judge(answer, true, 5)).isNull();
    silent(2, 8, 7);
    assertThat(rules.isSuspect(answer)).isFalse();
    silent(1, 8, 7);
    assertThat(rules.isSuspect(answer)).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"ACKNOWLEDGED", "CALLED_HOME"})
  void aWorkerIsProbedBeforeItsAnswerBegins(Stage stage) {
    answer.look(stage, 0, 0, false, SECOND);
    for (int i = 0; i < 3; i++) {
      answer.look(stage, 0, 0, false, SECOND);
    }
    assertThat(rules.isSuspect(answer)).isTrue();
    assertThat(rules.judge(answer, false, 2)).isEqualTo(Verdict.UNANSWERED_PROBES);
  }

  @Test
  void aRequestOnItsWayIsLeftToTheTimerOfItsConnection() {
    for (int i = 0; i < 100; i++) {
      answer.look(Stage.SENT, 0, 0, false, SECOND);
    }
    assertThat(rules.isSuspect(answer)).isFalse();
    assertThat(rules.judge(answer, true, 5)).isNull();
  }

  @Test
  void withoutProbesALeaseAloneEndsNothing() {
    var blind =
        SilenceRules.of(
            new SilenceSettings(
                Duration.ZERO,
                Duration.ofSeconds(2),
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofSeconds(5)));
    flow(7);
    silent(1000, 8, 7);
    assertThat(blind.isSuspect(answer)).isFalse();
    assertThat(blind.judge(answer, true, 5)).isNull();
  }

  @Test
  void anExchangeMayIdleButNotOutliveItsWorker() {
    var exchange = SilenceRules.ofExchanges(DEFAULTS, Duration.ZERO);
    flow(7);
    silent(1000, 8, 7);
    assertThat(exchange.judge(answer, true, 0)).isNull();
    assertThat(exchange.judge(answer, false, 2)).isEqualTo(Verdict.UNANSWERED_PROBES);
    var limited = SilenceRules.ofExchanges(DEFAULTS, Duration.ofSeconds(60));
    assertThat(limited.judge(answer, false, 0)).isEqualTo(Verdict.NO_NEXT_ITEM);
  }
}
