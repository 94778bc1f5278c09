package io.dynamo.worker.engine.llama.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TokenTrieTest {
  private static final String TOKENIZER =
      """
      {"added_tokens": [{"id": 9, "content": "ab"}],
       "decoder": {"type": "%s"},
       "model": {"vocab": {"a": 0, "abc": 1, "bcd": 2, "\u0120": 3, "\u00c3": 4, "\u00a9": 5, "ab": 9}}}""";

  private static TokenTrie trie() {
    return TokenTrie.of(TOKENIZER.formatted("ByteLevel").getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void tokensThatLeadToADeadEndAreNotOffered() {
    var trie = trie();
    var text = utf8("abcd"); // a + bcd; abc leaves d, for which there is no token
    var tokens = new HashSet<Integer>();
    trie.collect(text, 0, trie.finishable(text), tokens);
    assertThat(tokens).isEqualTo(Set.of(0));
  }

  @Test
  void lettersStandForBytesAndSpecialTokensForNone() {
    var trie = trie();
    assertThat(trie.finishable(utf8("a \u00e9"))[0]).isTrue();
    assertThat(trie.finishable(utf8("ab"))[0]).as("only the special token has it").isFalse();
    assertThat(trie.length(9)).isZero();
    assertThat(trie.matches(1, utf8("xabc"), 1)).isTrue();
    assertThat(trie.matches(1, utf8("xab"), 1)).isFalse();
  }

  @Test
  void otherVocabulariesAreRefused() {
    assertThatThrownBy(() -> TokenTrie.of(utf8(TOKENIZER.formatted("Metaspace"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("byte-level");
  }
}
