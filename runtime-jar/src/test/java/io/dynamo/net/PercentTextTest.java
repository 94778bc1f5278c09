package io.dynamo.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PercentTextTest {
  @ParameterizedTest
  @CsvSource({"a%2Fb, a/b", "a+b, a+b", "%C3%A9, é", "a%20b, a b", "%25, %", "plain, plain"})
  void escapesAreTheirCharacters(String text, String decoded) {
    assertThat(PercentText.decoded(text)).isEqualTo(decoded);
  }

  @Test
  void otherBytesThanTextAreReplaced() {
    assertThat(PercentText.decoded("%ff")).isEqualTo("\ufffd");
  }

  @ParameterizedTest
  @ValueSource(strings = {"%", "a%2", "%zz"})
  void incompleteEscapesAreRefused(String text) {
    assertThatThrownBy(() -> PercentText.decoded(text))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
