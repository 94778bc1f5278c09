package io.dynamo.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class LogBucketsTest {
  @Test
  void boundsAreThoseThatDynamoLaysOut() {
    assertThat(LogBuckets.of(1, 512, 10))
        .containsExactly(0.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 130.0, 260.0, 510.0);
    assertThat(LogBuckets.of(0.001, 480, 18))
        .containsExactly(
            0.0, .0022, .0047, .01, .022, .047, .1, .22, .47, 1.0, 2.2, 4.7, 10.0, 22.0, 48.0,
            100.0, 220.0, 480.0);
    assertThat(LogBuckets.of(0.001, 80, 20))
        .containsExactly(
            0.0, .0018, .0033, .0059, .011, .02, .035, .064, .12, .21, .38, .69, 1.2, 2.3, 4.1, 7.4,
            13.0, 24.0, 44.0, 80.0);
    assertThat(LogBuckets.of(50, 128_000, 12))
        .containsExactly(
            0.0, 100.0, 210.0, 430.0, 870.0, 1800.0, 3600.0, 7400.0, 15_000.0, 31_000.0, 63_000.0,
            130_000.0);
    assertThat(LogBuckets.of(50, 32_000, 10))
        .containsExactly(
            0.0, 100.0, 210.0, 430.0, 880.0, 1800.0, 3700.0, 7600.0, 16_000.0, 32_000.0);
  }

  @Test
  void boundsThatRoundToTheSameNumberAreOne() {
    assertThat(LogBuckets.of(1, 1.05, 5)).doesNotHaveDuplicates().isSorted();
  }

  @Test
  void aScaleThatEndsBeforeItBeginsIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> LogBuckets.of(2, 1, 5));
    assertThatIllegalArgumentException().isThrownBy(() -> LogBuckets.of(0, 1, 5));
    assertThatIllegalArgumentException().isThrownBy(() -> LogBuckets.of(1, 2, 1));
  }
}
