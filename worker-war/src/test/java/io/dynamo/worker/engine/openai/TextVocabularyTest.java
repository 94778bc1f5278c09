package io.dynamo.worker.engine.openai;

import static io.dynamo.worker.engine.openai.OpenAiEngineContractTest.VOCABULARY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.json.Json;
import io.dynamo.model.vocabulary.TokenTable;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextVocabularyTest {
  private static final int[] NO_PREFIX = {};

  /** A token for each byte, then words, the last of which is special. */
  private record Words(String... words) implements TokenTable {
    @Override
    public int size() {
      return 256 + words.length;
    }

    @Override
    public byte[] bytes(int id) {
      return id < 256
          ? new byte[] {(byte) id}
          : id < size() ? words[id - 256].getBytes(StandardCharsets.UTF_8) : new byte[0];
    }

    @Override
    public boolean isSpecial(int id) {
      return id == size() - 1;
    }
  }

  @Test
  void eachPlaceTakesTheLongestToken() {
    var vocabulary = new TextVocabulary(new Words("ab", "abcd", "abc", "b", "<end>"), NO_PREFIX);
    assertThat(vocabulary.tokens("abcabcdab")).containsExactly(258, 257, 256);
    assertThat(vocabulary.tokens("abx")).containsExactly(256, 'x');
    assertThat(vocabulary.tokens("")).isEmpty();
  }

  @Test
  void specialTokensAreReadAndNeverWritten() {
    var vocabulary = new TextVocabulary(new Words("ab", "<end>"), NO_PREFIX);
    assertThat(vocabulary.text(new int[] {256, 257, 'c', 999})).isEqualTo("ab<end>c");
    assertThat(vocabulary.tokens("<end>")).containsExactly('<', 'e', 'n', 'd', '>');
  }

  @Test
  void aVocabularyThatCannotSpellEveryByteIsRefused() {
    var words = new Words("ab", "<end>");
    var holed =
        new TokenTable() {
          @Override
          public int size() {
            return words.size();
          }

          @Override
          public byte[] bytes(int id) {
            return id == 0x41 ? new byte[0] : words.bytes(id);
          }

          @Override
          public boolean isSpecial(int id) {
            return words.isSpecial(id);
          }
        };
    assertThatThrownBy(() -> new TextVocabulary(holed, NO_PREFIX))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no token for the byte 0x41");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void anyTextSurvivesItsTokens(long seed) {
    var random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      var text = new StringBuilder();
      for (int i = 0; i < 40; i++) {
        int code = random.nextInt(4) == 0 ? random.nextInt(0x10000) : ' ' + random.nextInt(95);
        text.appendCodePoint(Character.isSurrogate((char) code) ? 0x1F600 : code);
      }
      var written = text.toString();
      assertThat(VOCABULARY.text(VOCABULARY.tokens(written))).isEqualTo(written);
    }
  }

  @Test
  void tokensThatTheServerPutsBeforeATextAreLeftOutOfThePrompt() {
    var vocabulary = new TextVocabulary(new Words("ab", "<s>"), new int[] {257});
    assertThat(vocabulary.promptText(new int[] {257, 256})).isEqualTo("ab");
    assertThat(vocabulary.promptText(new int[] {257})).isEqualTo("<s>");
    assertThat(vocabulary.promptText(new int[] {257, 257, 256})).isEqualTo("<s>ab");
    assertThat(vocabulary.promptText(new int[] {256, 257})).isEqualTo("ab<s>");
    assertThat(vocabulary.text(new int[] {257, 256})).isEqualTo("<s>ab");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          null                                                                          |
          {"type":"ByteLevel"}                                                          |
          {"type":"TemplateProcessing","single":[%s,%s],"special_tokens":%s}            | 1
          {"type":"TemplateProcessing","single":[%2$s],"special_tokens":%3$s}           |
          {"processors":[{"type":"ByteLevel"},{"single":[%s,%s],"special_tokens":%s}]}  | 1
          """)
  void theTokensBeforeATextAreThoseOfTheTokenizer(String processor, @Nullable String expected) {
    var json =
        processor.formatted(
            "{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}}",
            "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}",
            "{\"<s>\":{\"id\":\"<s>\",\"ids\":[1],\"tokens\":[\"<s>\"]}}");
    var tokenizer = "{\"post_processor\":" + json + "}";
    var prefix = TokenizerPrefix.of(Json.readObject(tokenizer.getBytes(StandardCharsets.UTF_8)));
    assertThat(prefix).isEqualTo(expected == null ? new int[0] : new int[] {1});
  }
}
