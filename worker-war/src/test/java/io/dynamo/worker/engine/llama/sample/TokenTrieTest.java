package io.dynamo.worker.engine.llama.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.inference.GuidedDecoding;
import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class TokenTrieTest {
  private static final String TOKENIZER =
      """
      {"added_tokens": [{"id": 9, "content": "ab"}],
       "decoder": {"type": "%s"},
       "model": {"vocab": {"a": 0, "abc": 1, "bcd": 2, "\u0120": 3, "\u00c3": 4, "\u00a9": 5, "ab": 9}}}\
      """;

  private static TokenTrie trie() {
    return TokenTrie.of(Json.readObject(utf8(TOKENIZER.formatted("ByteLevel"))));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the tokens that may come next when {@code choices} are the texts. */
  private static BitSet allowed(TokenTrie trie, String... choices) {
    var tree = new ChoiceTrie(List.of(choices), GuidedDecoding.bytes(List.of(choices)));
    var finishable = new BitSet();
    for (int node = tree.size() - 1; node >= 0; node--) {
      finishable.set(node, tree.isEnd(node) || trie.leads(tree, node, finishable));
    }
    var tokens = new BitSet();
    trie.collect(tree, ChoiceTrie.ROOT, finishable, tokens);
    return tokens;
  }

  @Test
  void tokensThatLeadToADeadEndAreNotOffered() {
    var tokens = allowed(trie(), "abcd"); // a + bcd; abc leaves d, which has no token
    assertThat(tokens.stream()).containsExactly(0);
  }

  @Test
  void lettersStandForBytesAndSpecialTokensForNone() {
    var trie = trie();
    assertThat(allowed(trie, "a \u00e9").stream()).containsExactly(0);
    assertThat(allowed(trie, "ab").stream()).as("only the special token has it").isEmpty();
    assertThat(trie.bytes(9)).isNull();
    assertThat(trie.bytes(1)).isEqualTo(utf8("abc"));
  }

  @Test
  void otherVocabulariesAreRefused() {
    assertThatThrownBy(() -> TokenTrie.of(Json.readObject(utf8(TOKENIZER.formatted("Metaspace")))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("byte-level");
  }
}
