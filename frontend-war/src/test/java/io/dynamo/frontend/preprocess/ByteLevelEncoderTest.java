package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Our byte-level encoder gives the library's ids, and leaves to it what it does not know. */
class ByteLevelEncoderTest {
  private static final String CL100K =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|%s| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  private static final List<String> SCRAPS =
      List.of(
          " ",
          "  ",
          "\n",
          "\r\n",
          "\t",
          "\u00a0",
          "\u2003",
          "\u3000",
          "\u0085",
          "'",
          "'s",
          "'LL",
          "'\u017f",
          "'re",
          "n't",
          "a",
          "the",
          " water",
          "Hello",
          "\u00e9",
          "e\u0301",
          "\u4e2d\u6587",
          "\u0e01\u0e33",
          "\ud83d\ude00",
          "\ud83d\udc68\u200d\ud83d\udc69",
          "\ud835\udfd8",
          "1",
          "23",
          "4567",
          "\u0663",
          "\u00bd",
          "\u2167",
          ".",
          "!?",
          "\u2014",
          "_",
          "$",
          "<",
          "<|im_start|>",
          "<|im_end|>",
          "<s>",
          "<tool_call>",
          "\u0378",
          "\ua7cb",
          "\u1c89",
          "\ufffd",
          "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
          "don't I'Ve");

  private final Random random = new Random(7);

  private static String resource(String name) throws IOException {
    return TokenizerKindsTest.resource(name);
  }

  private static String tokenizer(String pattern, Consumer<ObjectNode> change) throws IOException {
    var json = (ObjectNode) new ObjectMapper().readTree(resource("byte_level.json"));
    if (pattern.isEmpty()) {
      json.putObject("pre_tokenizer")
          .put("type", "ByteLevel")
          .put("add_prefix_space", false)
          .put("trim_offsets", true)
          .put("use_regex", true);
    } else {
      ((ObjectNode) json.at("/pre_tokenizer/pretokenizers/0/pattern")).put("Regex", pattern);
    }
    change.accept(json);
    return json.toString();
  }

  private static Map<?, ?> parsed(String json) {
    return (Map<?, ?>) Objects.requireNonNull(JsonTree.ofFile("it", json));
  }

  private String scribble() {
    var text = new StringBuilder();
    int scraps = 1 + random.nextInt(40);
    for (int i = 0; i < scraps; i++) {
      if (random.nextInt(6) == 0) {
        text.appendCodePoint(random.nextInt(1, random.nextBoolean() ? 0x3000 : 0x110000));
      } else {
        text.append(SCRAPS.get(random.nextInt(SCRAPS.size())));
      }
    }
    return WellFormed.of(text.toString());
  }

  private void agree(String json) {
    try (var library = new LibraryEncoder(json);
        var ours = ByteLevelEncoder.of(parsed(json), new LibraryEncoder(json))) {
      assertThat(ours).isInstanceOf(ByteLevelEncoder.class);
      for (int round = 0; round < 600; round++) {
        var text = scribble();
        assertThat(ours.encode(text)).as("%s", text).isEqualTo(library.encode(text));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\p{N}", "\\p{N}{1,3}", "\\p{N}+"})
  void randomTextHasTheLibrarysIds(String digits) throws IOException {
    agree(tokenizer(CL100K.formatted(digits), json -> {}));
    agree(tokenizer(CL100K.formatted(digits), ByteLevelEncoderTest::mergeAlways));
  }

  @Test
  void randomTextHasTheLibrarysIdsWithGpt2sPattern() throws IOException {
    agree(tokenizer("", json -> {}));
    agree(tokenizer("", ByteLevelEncoderTest::mergeAlways));
  }

  @Test
  void textIsNotComposedWithoutANormalizer() throws IOException {
    agree(tokenizer(CL100K.formatted("\\p{N}"), json -> json.putNull("normalizer")));
  }

  @Test
  void addedTokensMayBeLookedForInNormalizedText() throws IOException {
    agree(
        tokenizer(
            CL100K.formatted("\\p{N}"),
            json -> {
              for (var token : json.get("added_tokens")) {
                if (token.get("id").intValue() % 2 == 0) {
                  ((ObjectNode) token).put("normalized", true);
                }
              }
            }));
  }

  @Test
  void aPieceOfVeryManyLettersIsMergedInTime() throws IOException {
    var json = tokenizer("", json1 -> {});
    try (var library = new LibraryEncoder(json);
        var ours = ByteLevelEncoder.of(parsed(json), new LibraryEncoder(json))) {
      var text = "there".repeat(40_000);
      assertThat(ours.encode(text)).isEqualTo(library.encode(text));
    }
  }

  @Test
  void whatIsNotKnownIsLeftToTheLibrary() throws IOException {
    isLeftToTheLibrary(
        json ->
            ((ObjectNode) json.at("/pre_tokenizer/pretokenizers/1")).put("add_prefix_space", true));
    isLeftToTheLibrary(
        json ->
            ((ObjectNode) json.at("/pre_tokenizer/pretokenizers/0")).put("behavior", "Removed"));
    isLeftToTheLibrary(json -> ((ObjectNode) json.get("model")).put("dropout", 0.1));
    isLeftToTheLibrary(json -> ((ObjectNode) json.at("/added_tokens/0")).put("rstrip", true));
    isLeftToTheLibrary(json -> ((ObjectNode) json.at("/added_tokens/0")).put("single_word", true));
    isLeftToTheLibrary(json -> json.putObject("normalizer").put("type", "NFKC"));
    isLeftToTheLibrary(
        json ->
            ((ObjectNode) json.at("/pre_tokenizer/pretokenizers/0/pattern"))
                .put("Regex", "\\p{L}+|\\P{L}+"));
    var other = resource("unigram.json");
    try (var library = new LibraryEncoder(other)) {
      assertThat(ByteLevelEncoder.of(parsed(other), library)).isSameAs(library);
    }
  }

  private static void isLeftToTheLibrary(Consumer<ObjectNode> change) throws IOException {
    var json = tokenizer(CL100K.formatted("\\p{N}"), change);
    try (var library = new LibraryEncoder(json)) {
      assertThat(ByteLevelEncoder.of(parsed(json), library)).isSameAs(library);
    }
  }

  private static void mergeAlways(ObjectNode json) {
    ((ObjectNode) json.get("model")).put("ignore_merges", false);
  }
}
