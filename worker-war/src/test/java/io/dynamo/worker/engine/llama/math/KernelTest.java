package io.dynamo.worker.engine.llama.math;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the best kernel of this JVM against a sum written down in its order, with sizes that are no
 * multiple of any vector.
 */
class KernelTest {
  private final Kernel kernel = Kernels.best();
  private final Random random = new Random(5);

  private float[] numbers(int count) {
    var numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextGaussian();
    }
    return numbers;
  }

  @Test
  void testsRunWithVectors() {
    assertThat(kernel.name()).as("see the argLine of surefire").isEqualTo("vector");
  }

  @ParameterizedTest
  @CsvSource({"1,1,1", "5,7,3", "64,192,1", "192,192,4", "200,33,6", "1000,17,9", "129,64,5"})
  void productIsTheSumOfItsTermsInOrder(int outputs, int inputs, int rows) {
    var weights = numbers(outputs * inputs);
    var x = numbers(rows * inputs);
    var expected = new float[rows * outputs];
    for (int row = 0; row < rows; row++) {
      for (int o = 0; o < outputs; o++) {
        float sum = 0f;
        for (int i = 0; i < inputs; i++) {
          sum = Math.fma(x[row * inputs + i], weights[o * inputs + i], sum);
        }
        expected[row * outputs + o] = sum;
      }
    }
    for (var each : new Kernel[] {kernel, new PlainKernel()}) {
      var y = numbers(rows * outputs);
      each.multiply(each.pack(weights, outputs, inputs), x, rows, y);
      assertThat(y).as(each.name()).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({"1,4,1", "16,64,1", "16,64,3", "16,64,9", "7,10,5", "32,128,6", "20,6,4"})
  void scoresAndValuesAreThoseOfThePlainLoops(int blockTokens, int dims, int blocks) {
    int piece = 2 * blockTokens * dims + 3;
    try (var arena = Arena.ofConfined()) {
      var memory = arena.allocate((blocks + 2L) * piece * Float.BYTES + 1);
      for (int i = 0; i < (blocks + 2) * piece; i++) {
        memory.set(KvReader.NUMBER, 1L + (long) i * Float.BYTES, (float) random.nextGaussian());
      }
      var pieces = new long[blocks + 1];
      for (int b = 0; b < blocks; b++) { // at odd offsets, and not in order
        pieces[b] = 1L + (blocks - b) * (long) piece * Float.BYTES;
      }
      var query = numbers(dims + 2);
      var plain = new PlainKernel().reader(memory, piece, blockTokens, dims);
      var own = kernel.reader(memory, piece, blockTokens, dims);
      plain.open(pieces, blocks);
      own.open(pieces, blocks);
      var expected = new float[blocks * blockTokens];
      var scores = new float[expected.length];
      plain.scores(query, 2, 3, blocks, expected);
      own.scores(query, 2, 3, blocks, scores);
      assertThat(scores).isEqualTo(expected);
      float last = 0f;
      for (int d = 0; d < dims; d++) {
        long at =
            pieces[blocks - 1] + (3L + (long) d * blockTokens + blockTokens - 1) * Float.BYTES;
        last = Math.fma(query[2 + d], memory.get(KvReader.NUMBER, at), last);
      }
      assertThat(scores[scores.length - 1]).as("a sum written down").isEqualTo(last);
      for (int tokens = 1; tokens <= expected.length; tokens++) {
        var sums = numbers(dims + 1);
        var expectedSums = sums.clone();
        plain.weigh(scores, tokens, 2, expectedSums, 1);
        own.weigh(scores, tokens, 2, sums, 1);
        assertThat(sums).isEqualTo(expectedSums);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 8, 16, 31, 1000})
  void curvesAreThoseOfThePlainLoops(int count) {
    var values = numbers(count);
    var up = numbers(count);
    var plain = values.clone();
    kernel.gate(values, up, count);
    new PlainKernel().gate(plain, up, count);
    assertThat(values).isEqualTo(plain);
    kernel.exp(values, count, 0.125f, 3f);
    new PlainKernel().exp(plain, count, 0.125f, 3f);
    assertThat(values).isEqualTo(plain);
  }

  @Test
  void exponentialIsRightToTheLastPlaces() {
    for (float x = -87f; x < 88f; x += 0.0371f) {
      double exact = Math.exp(x);
      assertThat((double) Exponential.of(x)).isCloseTo(exact, within(exact * 2.5e-7));
    }
    assertThat(Exponential.of(0f)).isEqualTo(1f);
  }

  @Test
  void exponentialStaysWithinNumbersAndPassesNaN() {
    var ends = new float[] {-1e9f, 1e9f, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY};
    for (float end : ends) {
      assertThat(Float.isFinite(Exponential.of(end))).isTrue();
    }
    var values = new float[64];
    Arrays.fill(values, Float.NaN);
    kernel.exp(values, 64, 1f, 0f);
    for (float value : values) {
      assertThat(value).isNaN();
    }
  }
}
