package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FreshnessTest {
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      delimiter = '|',
      value = {
        "-|-|300",
        "public|-|300",
        "max-age=60|-|60",
        "public, Max-Age=\"60\"|-|60",
        "max-age=999999|-|3600",
        "max-age=0|-|0",
        "max-age=x|-|0",
        "s-maxage=10, max-age=60|-|10",
        "max-age=60, s-maxage=10|-|10",
        "no-store|-|0",
        "max-age=60, no-store|-|0",
        "private, max-age=60|-|0",
        "no-cache|-|0",
        "max-age=60|Accept-Encoding|60",
        "max-age=60|*|0"
      })
  void serversSayHowLongTheirFilesAreKept(String control, String vary, long seconds) {
    assertThat(Freshness.seconds(control, vary)).isEqualTo(seconds);
  }
}
