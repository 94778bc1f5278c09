package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SampledIT {
  private static long drawnOf300(String seed) {
    return IntStream.range(0, 300)
        .filter(i -> Sampled.Condition.isDrawn("io.dynamo.it.Class" + i + "IT", seed))
        .count();
  }

  @Test
  void aSeedDrawsAQuarter() {
    assertThat(drawnOf300("6f1d")).isBetween(50L, 100L);
    assertThat(drawnOf300("another")).isBetween(50L, 100L);
  }

  @Test
  void seedsDrawDifferentClasses() {
    assertThat(
            IntStream.range(0, 40)
                .filter(i -> Sampled.Condition.isDrawn("io.dynamo.it.RestartIT", "seed" + i))
                .count())
        .isBetween(3L, 20L);
  }

  @Test
  void withoutASeedAllRun() {
    assertThat(drawnOf300("")).isEqualTo(300);
    assertThat(drawnOf300("all")).isEqualTo(300);
  }
}
