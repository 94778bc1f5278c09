package io.dynamo.router.select;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.router.load.RankLoads;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RankPickerTest {
  private static final int DRAWS = 20_000;

  private static double[] shares(double temperature, double[] costs, int[] requests) {
    return shares(new RankPicker(temperature, true, new Random(1)::nextDouble), costs, requests);
  }

  private static double[] shares(RankPicker picker, double[] costs, int[] requests) {
    int n = costs.length;
    var terms =
        new CostModel.Terms(new double[n], new double[n], new double[0], new double[n], costs);
    var loads = new RankLoads(new long[n], new int[n], new int[n], requests);
    var shares = new double[n];
    for (int i = 0; i < DRAWS; i++) {
      shares[picker.pick(terms, loads).candidate()]++;
    }
    for (int i = 0; i < shares.length; i++) {
      shares[i] /= DRAWS;
    }
    return shares;
  }

  @Test
  void coldTakesTheLeastCost() {
    assertThat(shares(0, new double[] {3, 1, 2}, new int[] {0, 9, 0})).containsExactly(0, 1, 0);
  }

  @Test
  void amongEqualCostsTheLeastLoadedWins() {
    assertThat(shares(0, new double[] {1, 1, 2}, new int[] {5, 4, 0})).containsExactly(0, 1, 0);
  }

  @Test
  void withoutTheTieBreakEqualCostsAreDrawnEvenlyWhateverTheLoad() {
    var picker = new RankPicker(0, false, new Random(1)::nextDouble);
    assertThat(shares(picker, new double[] {1, 1}, new int[] {5, 0})[0])
        .isCloseTo(0.5, within(0.02));
  }

  @Test
  void warmDrawsSurviveCostsOfAnySize() {
    var shares = shares(1, new double[] {-Double.MAX_VALUE, Double.MAX_VALUE}, new int[2]);
    assertThat(shares[0]).isCloseTo(1 / (1 + Math.exp(-1)), within(0.02));
  }

  @Test
  void equalInAllTheyAreDrawnEvenly() {
    var shares = shares(0, new double[] {1, 2, 1, 1}, new int[4]);
    assertThat(shares[1]).isZero();
    for (int i : new int[] {0, 2, 3}) {
      assertThat(shares[i]).isCloseTo(1 / 3.0, within(0.02));
    }
  }

  @Test
  void warmDrawsByTheExponentialOfTheCost() {
    var shares = shares(0.5, new double[] {10, 20, 30}, new int[3]);
    double sum = 1 + Math.exp(-1) + Math.exp(-2);
    assertThat(shares[0]).isCloseTo(1 / sum, within(0.02));
    assertThat(shares[1]).isCloseTo(Math.exp(-1) / sum, within(0.02));
    assertThat(shares[2]).isCloseTo(Math.exp(-2) / sum, within(0.02));
  }

  @Test
  void warmWithEqualCostsIsEven() {
    assertThat(shares(1, new double[] {4, 4}, new int[] {9, 0})[0]).isCloseTo(0.5, within(0.02));
  }

  @Test
  void aTinyTemperatureIsCold() {
    assertThat(shares(1e-300, new double[] {2, 1}, new int[2])).containsExactly(0, 1);
  }

  @Test
  void aNegativeTemperatureIsRefusedByItsKey() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RankPicker(-1, true, () -> 0))
        .withMessageContaining("dynamo.router.temperature");
  }
}
