package io.dynamo.frontend.batches;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which lines are sent again, how often and when. */
class LineRetriesTest {
  private final AtomicLong now = new AtomicLong(1000);
  private final MissingModels models = new MissingModels(() -> Instant.ofEpochMilli(now.get()));

  private LineRetries retries() {
    return new LineRetries(models, () -> Instant.ofEpochMilli(now.get()));
  }

  private static BatchLines.Outcome outcome(
      int status, boolean isOverload, @Nullable Integer wait) {
    return ScriptedLines.outcome(status, "answer", isOverload, wait);
  }

  /** How often a line is sent when it is always answered like that. */
  private int sendings(int status, boolean isOverload) {
    var retries = retries();
    int sent = 1;
    while (retries.after(outcome(status, isOverload, null)).isPresent()) {
      sent++;
    }
    return sent;
  }

  @Test
  void refusalsAreSentAgainUnderEveryStatusButNotForEver() {
    assertThat(sendings(429, false)).isEqualTo(LineRetries.REFUSALS);
    assertThat(sendings(503, false)).isEqualTo(LineRetries.REFUSALS);
    assertThat(sendings(418, true)).isEqualTo(LineRetries.REFUSALS);
    assertThat(sendings(404, true)).isEqualTo(LineRetries.REFUSALS);
    assertThat(sendings(418, false)).isOne();
  }

  @Test
  void failuresOfServersAreSentAFewTimesAndAnswersOnce() {
    assertThat(sendings(500, false)).isEqualTo(LineRetries.FAILURES);
    assertThat(sendings(408, false)).isEqualTo(LineRetries.FAILURES);
    assertThat(sendings(501, false)).isOne();
    assertThat(sendings(400, false)).isOne();
    assertThat(sendings(200, false)).isOne();
  }

  @Test
  void pausesGrowAndAreAsLongAsTheRefusalSays() {
    var retries = retries();

    assertThat(retries.after(outcome(503, false, null))).contains(Duration.ofMillis(500));
    assertThat(retries.after(outcome(503, false, 1))).contains(Duration.ofSeconds(1));
    assertThat(retries.after(outcome(503, false, 7))).contains(Duration.ofSeconds(7));
    assertThat(retries.after(outcome(503, false, null))).contains(Duration.ofSeconds(4));
    assertThat(retries.after(outcome(503, false, 3600))).contains(Duration.ofSeconds(30));
  }

  @Test
  void modelIsWaitedForOnceByAllLinesOfABatch() {
    var first = retries();
    assertThat(first.after(outcome(404, false, null))).isPresent();
    now.addAndGet(MissingModels.PATIENCE.toMillis());
    assertThat(first.after(outcome(404, false, null))).isEmpty();

    assertThat(retries().after(outcome(404, false, null))).isEmpty();
  }
}
