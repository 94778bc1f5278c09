package io.dynamo.frontend.sse;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FloatTextTest {
  private static final int SAMPLES = 300_000;

  private static String text(float value) {
    return new String(new ByteText(16).number(value).toByteArray(), StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @CsvSource({
    "0.1,0.1",
    "-0.25,-0.25",
    "1,1.0",
    "-1,-1.0",
    "0,0.0",
    "10,10.0",
    "9999999,9999999.0",
    "0.00001,0.00001",
    "0.000255703,0.000255703",
    "16777216,1.6777216E7",
    "1e-6,1.0E-6",
    "3.4028235e38,3.4028235E38",
    "1.4e-45,1.4E-45",
    "0.99999994,0.99999994",
    "123456.79,123456.79"
  })
  void numbersAreWrittenPlainlyWithinTheRangeAndAsJavaDoesBeyond(float value, String expected) {
    assertThat(text(value)).isEqualTo(expected);
  }

  @Test
  void everyTextReadsAsItsFloatAndHasSevenDigitsOrNoMoreThanJavas() {
    var random = new Random(11);
    for (int i = 0; i < SAMPLES; i++) {
      float value =
          (i & 1) == 0
              ? (float) (random.nextGaussian() * 0.05)
              : Float.intBitsToFloat(random.nextInt());
      if (Float.isFinite(value)) {
        var text = text(value);
        assertThat(Float.parseFloat(text)).as(text).isEqualTo(value);
        assertThat(digits(text))
            .as(text)
            .isLessThanOrEqualTo(Math.max(7, digits(Float.toString(value))));
      }
    }
  }

  private static int digits(String text) {
    return new BigDecimal(text).stripTrailingZeros().precision();
  }

  @Test
  void neighboursOfPowersOfTenAndTwoReadAsThemselves() {
    for (int exponent = -20; exponent <= 25; exponent++) {
      for (float near :
          new float[] {(float) Math.pow(10, exponent), (float) Math.pow(2, exponent)}) {
        float value = near;
        for (int step = 0; step < 5; step++) {
          assertThat(Float.parseFloat(text(value))).isEqualTo(value);
          assertThat(Float.parseFloat(text(-value))).isEqualTo(-value);
          value = Math.nextUp(value);
        }
        assertThat(Float.parseFloat(text(Math.nextDown(near)))).isEqualTo(Math.nextDown(near));
      }
    }
  }
}
