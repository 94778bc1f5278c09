package io.dynamo.frontend.kserve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InferenceStatisticsTest {
  private static final int MOST = 4096;

  private final Set<String> served = new HashSet<>();
  private long now;
  private final InferenceStatistics statistics =
      new InferenceStatistics(() -> now, served::contains);

  private void fill() {
    for (int i = 0; i < MOST; i++) {
      statistics.record("m" + i, true, 1);
      served.add("m" + i);
    }
  }

  @Test
  void modelsThatLeftGiveWayToNewOnes() {
    fill();
    served.remove("m7");

    statistics.record("new", true, 5);

    assertThat(statistics.of("new").successes()).isEqualTo(1);
    assertThat(statistics.of("m7").successes()).isZero();
    assertThat(statistics.of("m8").successes()).isEqualTo(1);
  }

  @Test
  void modelsThatAreServedKeepTheirCountsAndAreLookedAtRarely() {
    fill();
    statistics.record("new", true, 5);
    assertThat(statistics.of("new").successes()).isZero();
    assertThat(statistics.of("m0").successes()).isEqualTo(1);

    served.clear();
    statistics.record("new", true, 5);
    assertThat(statistics.of("new").successes()).isZero();
    now = 10_000;
    statistics.record("new", true, 5);
    assertThat(statistics.of("new").successes()).isEqualTo(1);
  }
}
