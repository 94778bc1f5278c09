package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.postprocess.IncrementalDetokenizer;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A vocabulary of ranks against OpenAI's own {@code tiktoken}; {@code
 * src/test/python/make_tiktoken.py} made the vocabulary and recorded its answers.
 */
class TiktokenTest {
  private static final int RANKS = 1500;
  private static final List<String> FILES =
      List.of("tiktoken.model", "tokenizer_config.json", "config.json");

  /** A text and its ids. */
  private record Expected(String text, int[] ids) {}

  private static List<Expected> expected() throws IOException {
    return new ObjectMapper()
        .readValue(TokenizerKindsTest.resource("tiktoken/expected.json"), new TypeReference<>() {});
  }

  private static Map<String, String> files() throws IOException {
    var files = new HashMap<String, String>();
    for (var name : FILES) {
      files.put(name, TokenizerKindsTest.resource("tiktoken/" + name));
    }
    return files;
  }

  private static String decoded(ModelText model, int[] ids, boolean withoutSpecial) {
    var detokenizer = new IncrementalDetokenizer(model.tokens(), withoutSpecial);
    var text = new StringBuilder();
    for (int id : ids) {
      detokenizer.append(id, text);
    }
    detokenizer.finish(text);
    return text.toString();
  }

  @Test
  void encodesAndDecodesAsTiktokenDoes() throws IOException {
    try (var model = HuggingFaceText.of(files())) {
      for (var expected : expected()) {
        assertThat(model.encode(expected.text())).as(expected.text()).isEqualTo(expected.ids());
        assertThat(decoded(model, expected.ids(), false)).isEqualTo(expected.text());
      }
    }
  }

  @Test
  void promptsCutAtSpecialTokensHaveTheSameIds() throws IOException {
    var prompt = new StringBuilder();
    for (var expected : expected()) {
      prompt.append(expected.text()).append("<|im_end|>");
    }
    var text = prompt.toString();
    var cache = new PrefixCache(1 << 20, new Metrics());
    try (var cached = HuggingFaceText.of(files(), "", cache);
        var whole = HuggingFaceText.of(files())) {
      assertThat(cached.encode(text)).isEqualTo(whole.encode(text));
      assertThat(cached.encode(text)).isEqualTo(whole.encode(text));
    }
  }

  @Test
  void specialTokensAreThoseOfTheConfigurationAndReservedOnes() throws IOException {
    try (var model = HuggingFaceText.of(files())) {
      assertThat(model.eosTokenIds()).containsExactly(RANKS + 1);
      assertThat(model.tokens().size()).isEqualTo(RANKS + 256);
      assertThat(model.tokens().isSpecial(RANKS + 2)).isTrue();
      assertThat(model.tokens().isSpecial(RANKS + 9)).as("said not to be").isFalse();
      assertThat(model.tokens().isSpecial(RANKS + 255)).isTrue();
      assertThat(model.tokens().bytes(RANKS + 255)).asString().isEqualTo("<|reserved_token_1755|>");
      var ids = model.encode("<think>no<|im_end|><|reserved_token_1755|>");
      assertThat(decoded(model, ids, true)).isEqualTo("<think>no");
    }
  }

  @Test
  void brokenCharactersComeOutAsReplacements() throws IOException {
    try (var model = HuggingFaceText.of(files())) {
      assertThat(decoded(model, new int[] {0xE4, 0xB8, 0xAD, 0xE4, 'a', 0xF0, 0x9F}, false))
          .isEqualTo("中\ufffda\ufffd");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "A", " ", "\n", "!", "中", "é", "\u0301", "1", "aB", "A\u0301", " a"})
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void aMillionOfOneLetterAreEncodedInTime(String letter) throws IOException {
    var text = letter.repeat((1 << 20) / letter.length());
    try (var model = HuggingFaceText.of(files())) {
      assertThat(decoded(model, model.encode(text), false)).isEqualTo(text);
    }
  }

  @Test
  void otherModelsAreRefusedByTheirType() throws IOException {
    var files = files();
    files.put("config.json", "{\"model_type\": \"qwen\"}");

    assertThatThrownBy(() -> HuggingFaceText.of(files))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("model_type qwen", "kimi_k2", "tokenizer.json");
  }
}
