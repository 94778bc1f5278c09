package io.dynamo.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArrivalChargeTest {
  private final List<String> calls = new ArrayList<>();
  private boolean full;
  private final ArrivalCharge charge =
      new ArrivalCharge(
          new ArrivalCharge.Room() {
            @Override
            public boolean take(long more, long held) {
              calls.add("take %d beside %d".formatted(more, held));
              return !full;
            }

            @Override
            public void give(long bytes) {
              calls.add("give " + bytes);
            }
          });

  @Test
  void onlyTheDifferenceIsTakenAndGiven() {
    assertThat(charge.set(10)).isTrue();
    assertThat(charge.set(25)).isTrue();
    assertThat(charge.set(25)).isTrue();
    assertThat(charge.set(5)).isTrue();
    charge.release();
    charge.release();
    assertThat(calls).containsExactly("take 10 beside 0", "take 15 beside 10", "give 20", "give 5");
  }

  @Test
  void aRequestThatFindsNoRoomReturnsAllThatItHas() {
    assertThat(charge.set(10)).isTrue();
    full = true;
    assertThat(charge.set(11)).isFalse();
    charge.release();
    assertThat(calls).containsExactly("take 10 beside 0", "take 1 beside 10", "give 10");
  }
}
