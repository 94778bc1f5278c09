package io.dynamo.router.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PoolHitsTest {
  @RepeatedTest(200)
  void blocksBeyondAreCountedAsOneByOne(RepetitionInfo repetition) {
    var random = new Random(repetition.getCurrentRepetition());
    var held = new boolean[random.nextInt(40)];
    double density = random.nextDouble();
    for (int i = 0; i < held.length; i++) {
      held[i] = random.nextDouble() < density;
    }
    var hits = PoolHits.of(held);
    for (int from = 0; from < held.length + 5; from++) {
      int naive = 0;
      for (int i = from; i < held.length; i++) {
        naive += held[i] ? 1 : 0;
      }
      assertThat(hits.beyond(from)).as("beyond %d", from).isEqualTo(naive);
    }
    assertThat(hits.total()).isEqualTo(hits.beyond(0));
  }

  @Test
  void noHitsAreAlwaysTheSame() {
    assertThat(PoolHits.of(new boolean[7])).isSameAs(PoolHits.NONE);
    assertThat(PoolHits.NONE.beyond(3)).isZero();
  }
}
