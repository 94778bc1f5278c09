package io.dynamo.request.tcp.silence;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StartTimesTest {
  private final AtomicLong now = new AtomicLong(42);
  private final StartTimes times =
      new StartTimes(Duration.ofSeconds(5), Duration.ofSeconds(60), now::get);

  private void take(Duration time) {
    times.record(time.toNanos());
  }

  private Duration limit() {
    return Duration.ofNanos(times.limitNanos());
  }

  @Test
  void aWorkerThatWasNeverMeasuredHasTheLeast() {
    assertThat(limit()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void quickStartsDoNotLowerTheLimitBelowTheLeast() {
    take(Duration.ofMillis(1));
    assertThat(limit()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void slowStartsRaiseTheLimitToFourTimesTheSlowest() {
    take(Duration.ofSeconds(3));
    take(Duration.ofMillis(10));
    assertThat(limit()).isEqualTo(Duration.ofSeconds(12));
  }

  @Test
  void theLimitNeverExceedsTheMost() {
    take(Duration.ofSeconds(40));
    assertThat(limit()).isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  void theSlowestIsForgottenByHalvesPerMinute() {
    take(Duration.ofSeconds(8));
    now.addAndGet(Duration.ofMinutes(1).toNanos());
    assertThat(limit()).isEqualTo(Duration.ofSeconds(16));
    now.addAndGet(Duration.ofMinutes(5).toNanos());
    assertThat(limit()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void aMostBelowTheLeastCounts() {
    var strict = new StartTimes(Duration.ofSeconds(5), Duration.ofSeconds(2), now::get);
    assertThat(strict.limitNanos()).isEqualTo(Duration.ofSeconds(2).toNanos());
  }
}
