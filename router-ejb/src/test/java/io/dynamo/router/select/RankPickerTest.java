package io.dynamo.router.select;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RankPickerTest {
  private static final int DRAWS = 20_000;

  private static double[] shares(double temperature, double[] costs, long[] loads) {
    var picker = new RankPicker(temperature, new Random(1)::nextDouble);
    var shares = new double[costs.length];
    for (int i = 0; i < DRAWS; i++) {
      shares[picker.pick(costs, loads)]++;
    }
    for (int i = 0; i < shares.length; i++) {
      shares[i] /= DRAWS;
    }
    return shares;
  }

  @Test
  void coldTakesTheLeastCost() {
    assertThat(shares(0, new double[] {3, 1, 2}, new long[] {0, 9, 0})).containsExactly(0, 1, 0);
  }

  @Test
  void amongEqualCostsTheLeastLoadedWins() {
    assertThat(shares(0, new double[] {1, 1, 2}, new long[] {5, 4, 0})).containsExactly(0, 1, 0);
  }

  @Test
  void equalInAllTheyAreDrawnEvenly() {
    var shares = shares(0, new double[] {1, 2, 1, 1}, new long[4]);
    assertThat(shares[1]).isZero();
    for (int i : new int[] {0, 2, 3}) {
      assertThat(shares[i]).isCloseTo(1 / 3.0, within(0.02));
    }
  }

  @Test
  void warmDrawsByTheExponentialOfTheCost() {
    var shares = shares(0.5, new double[] {10, 20, 30}, new long[3]);
    double sum = 1 + Math.exp(-1) + Math.exp(-2);
    assertThat(shares[0]).isCloseTo(1 / sum, within(0.02));
    assertThat(shares[1]).isCloseTo(Math.exp(-1) / sum, within(0.02));
    assertThat(shares[2]).isCloseTo(Math.exp(-2) / sum, within(0.02));
  }

  @Test
  void warmWithEqualCostsIsEven() {
    assertThat(shares(1, new double[] {4, 4}, new long[] {9, 0})[0]).isCloseTo(0.5, within(0.02));
  }

  @Test
  void aTinyTemperatureIsCold() {
    assertThat(shares(1e-300, new double[] {2, 1}, new long[2])).containsExactly(0, 1);
  }

  @Test
  void aNegativeTemperatureIsRefusedByItsKey() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RankPicker(-1, () -> 0))
        .withMessageContaining("dynamo.router.temperature");
  }
}
