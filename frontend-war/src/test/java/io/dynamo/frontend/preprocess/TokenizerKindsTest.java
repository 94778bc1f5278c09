package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.postprocess.IncrementalDetokenizer;
import io.dynamo.json.Json;
import io.dynamo.model.vocabulary.TokenTable;
import io.dynamo.model.vocabulary.Vocabulary;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every kind of {@code tokenizer.json} against the library that Python uses; {@code
 * src/test/python/make_tokenizers.py} made the tokenizers and recorded its answers.
 */
class TokenizerKindsTest {
  static final List<String> KINDS =
      List.of(
          "byte_level",
          "byte_level_prefix",
          "sentencepiece",
          "metaspace_first",
          "unigram",
          "wordpiece");

  record Expected(
      String tokenizer, String text, int[] ids, String decoded, String decoded_without_special) {
    @Override
    public String toString() {
      return tokenizer + ": " + text;
    }
  }

  static Stream<Expected> expected() throws IOException {
    var json = resource("expected.json");
    return new ObjectMapper().readValue(json, new TypeReference<List<Expected>>() {}).stream();
  }

  static Stream<String> kinds() {
    return KINDS.stream();
  }

  @ParameterizedTest
  @MethodSource("expected")
  void encodesAndDecodesAsPythonDoes(Expected expected) throws IOException {
    try (var text = open(expected.tokenizer())) {
      var ids = text.encode(expected.text());
      assertThat(ids).isEqualTo(expected.ids());
      assertThat(decoded(text.tokens(), ids, false)).isEqualTo(expected.decoded());
      assertThat(decoded(text.tokens(), ids, true)).isEqualTo(expected.decoded_without_special());
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void decodesRandomTokensAsTheLibraryDoes(String kind) throws IOException {
    var json = resource(kind + ".json");
    var table = Vocabulary.of(Json.readFile(kind, json));
    try (var oracle = new LibraryEncoder(json)) {
      var random = new Random(kind.hashCode());
      for (int round = 0; round < 3000; round++) {
        var ids = random.ints(1 + random.nextInt(12), 0, table.size()).toArray();
        for (boolean skip : new boolean[] {false, true}) {
          assertThat(decoded(table, ids, skip))
              .as("%s %s", kind, Arrays.toString(ids))
              .isEqualTo(
                  json.contains("ByteFallback")
                      ? whole(table, oracle, ids, skip)
                      : oracle.decode(wide(ids), skip));
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void textAfterAPromptKeepsItsSpaces(String kind) throws IOException {
    var json = resource(kind + ".json");
    var table = Vocabulary.of(Json.readFile(kind, json));
    try (var oracle = new LibraryEncoder(json)) {
      var prompt = oracle.encode("the", Integer.MAX_VALUE);
      var words = oracle.encode("the water people found", Integer.MAX_VALUE);
      var ids = Arrays.copyOfRange(words, Math.min(prompt.length, words.length - 1), words.length);
      var both = IntStream.concat(Arrays.stream(prompt), Arrays.stream(ids)).asLongStream();
      var text = new StringBuilder();
      var detokenizer = new IncrementalDetokenizer(table, false);
      for (int id : ids) {
        detokenizer.append(id, text);
      }
      assertThat(oracle.decode(wide(prompt), false) + text)
          .isEqualTo(oracle.decode(both.toArray(), false));
      assertThat(text.toString()).startsWith(" ");
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aPromptOfAHundredThousandTokensIsEncodedWhole(String kind) throws IOException {
    try (var text = open(kind)) {
      var turn = "<|im_start|>the water people found\n in the night<|im_end|>\n";
      int once = text.encode(turn).length;
      int times = 100_000 / once + 1;
      assertThat(text.encode(turn.repeat(times)).length).isGreaterThanOrEqualTo(100_000);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"CTC", "BPEDecoder", "Nonsense"})
  void aDecoderThatCannotGoTokenByTokenIsRefused(String type) {
    var tokenizer =
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},\"decoder\":{\"type\":\"%s\"}}"
            .formatted(type);

    assertThatThrownBy(() -> HuggingFaceText.of(Map.of("tokenizer.json", tokenizer)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("decoder of type " + type);
  }

  @Test
  void anAddedTokenIsTextAndNotSpelledInBytes() {
    var tokenizer =
        """
        {"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"decoder":{"type":"ByteLevel"},
         "added_tokens":[{"id":1,"content":"é","special":false,"normalized":false}]}\
        """;

    var table = Vocabulary.of(Json.readFile("tokenizer.json", tokenizer));

    assertThat(new String(table.bytes(1), StandardCharsets.UTF_8)).isEqualTo("é");
  }

  /**
   * The library's text. Where a run of byte tokens is no UTF-8, its fallback replaces every byte of
   * the run, whole characters included; then the bytes themselves say what is right.
   */
  private static String whole(TokenTable table, LibraryEncoder oracle, int[] ids, boolean skip) {
    var library = oracle.decode(wide(ids), skip);
    if (!library.contains("\uFFFD")) {
      return library;
    }
    var bytes = new ByteArrayOutputStream();
    boolean first = true;
    for (int id : ids) {
      if (!skip || !table.isSpecial(id)) {
        bytes.writeBytes(first ? table.firstBytes(id) : table.bytes(id));
        first = false;
      }
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static String decoded(TokenTable table, int[] ids, boolean skipSpecialTokens) {
    var detokenizer = new IncrementalDetokenizer(table, skipSpecialTokens, true);
    var text = new StringBuilder();
    for (int id : ids) {
      detokenizer.append(id, text);
      assertThat(text.isEmpty() || !Character.isHighSurrogate(text.charAt(text.length() - 1)))
          .as("a delta ends with a whole character")
          .isTrue();
    }
    detokenizer.finish(text);
    return text.toString();
  }

  private static long[] wide(int[] ids) {
    return Arrays.stream(ids).asLongStream().toArray();
  }

  static HuggingFaceText open(String kind) throws IOException {
    return HuggingFaceText.of(Map.of("tokenizer.json", resource(kind + ".json")));
  }

  static String resource(String name) throws IOException {
    try (var in = TokenizerKindsTest.class.getResourceAsStream("/tokenizers/" + name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
