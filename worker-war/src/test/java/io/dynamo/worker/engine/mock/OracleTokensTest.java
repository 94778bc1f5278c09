package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class OracleTokensTest {
  private static final int SPACE = 5;
  private static final int[] WORDS = {10, 20, 30, 40, 50, 60, 70, 80};
  private static final int[] PROMPT = {1, 2, 3};

  private final OracleTokens oracle = new OracleTokens(WORDS, SPACE);

  @Test
  void wordsAndSeparatorsTakeTurns() {
    var tokens = oracle.continuation(1, PROMPT, 40);
    for (int i = 0; i < tokens.length; i++) {
      if (i % 2 == 0) {
        assertThat(WORDS).contains(tokens[i]);
      } else {
        assertThat(tokens[i]).isEqualTo(SPACE);
      }
    }
    assertThat(Arrays.stream(tokens).distinct().count()).isGreaterThan(WORDS.length / 2);
  }

  @Test
  void continuationGoesOnFromAnyOfItsTokens() {
    var whole = oracle.continuation(1, PROMPT, 20);
    for (int cut = 0; cut <= whole.length; cut++) {
      var prompt = Arrays.copyOf(PROMPT, PROMPT.length + cut);
      System.arraycopy(whole, 0, prompt, PROMPT.length, cut);
      assertThat(oracle.continuation(1, prompt, whole.length - cut))
          .as("cut at %d", cut)
          .isEqualTo(Arrays.copyOfRange(whole, cut, whole.length));
    }
  }

  @Test
  void lostSeparatorChangesTheWordsThatFollow() {
    assertThat(oracle.continuation(1, new int[] {1, 10, SPACE, 20, SPACE}, 20))
        .isNotEqualTo(oracle.continuation(1, new int[] {1, 10, 20, SPACE}, 20));
  }

  @Test
  void withoutASeparatorWordsFollowEachOther() {
    assertThat(new OracleTokens(WORDS).continuation(1, PROMPT, 40)).doesNotContain(SPACE);
  }

  @Test
  void wordIsNoSeparator() {
    assertThatThrownBy(() -> new OracleTokens(WORDS, 10))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
