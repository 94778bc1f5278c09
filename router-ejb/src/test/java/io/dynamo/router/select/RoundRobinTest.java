package io.dynamo.router.select;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RoundRobinTest {
  @Test
  void takesCandidatesInTurn() {
    var turn = new RoundRobin();
    assertThat(new int[] {turn.next(3), turn.next(3), turn.next(3), turn.next(3)})
        .containsExactly(0, 1, 2, 0);
    assertThat(turn.next(1)).isZero();
  }
}
