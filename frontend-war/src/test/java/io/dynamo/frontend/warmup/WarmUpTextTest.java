package io.dynamo.frontend.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WarmUpTextTest {
  @Test
  void encodesEachByteAsATokenAndDecodesIt() {
    try (var text = WarmUpText.open()) {
      assertThat(text.encode("a b", 100))
          .containsExactly(WarmUpText.id('a'), WarmUpText.id(' '), WarmUpText.id('b'));
      assertThat(text.tokens().bytes(WarmUpText.id('z'))).containsExactly('z');
      assertThat(text.eosTokenIds()).containsExactly(256);
    }
  }
}
