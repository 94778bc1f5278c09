package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.error.CancelledException;
import io.dynamo.frontend.preprocess.bpe.TooManyTokensException;
import io.dynamo.json.Json;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Our byte-level encoder gives the library's ids, and uses the library for unknown tokenizers. */
class ByteLevelEncoderTest {
  private static final int ALL = Integer.MAX_VALUE; // tokens

  private static final String CL100K =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r"
          + "\\n"
          + "\\p{L}\\p{N}]?\\p{L}+|%s| ?[^\\s\\p{L}\\p{N}]+[\\r"
          + "\\n"
          + "]*|\\s*[\\r"
          + "\\n"
          + "]+|\\s+(?!\\S)|\\s+";

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
    return (Map<?, ?>) Objects.requireNonNull(Json.readFile("it", json));
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
        assertThat(ours.encode(text, ALL)).as("%s", text).isEqualTo(library.encode(text, ALL));
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
      assertThat(ours.encode(text, ALL)).isEqualTo(library.encode(text, ALL));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"there", "there "})
  void encodingOfAnInterruptedThreadEnds(String word) throws IOException {
    var json = tokenizer("", _ -> {});
    try (var ours = ByteLevelEncoder.of(parsed(json), new LibraryEncoder(json))) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> ours.encode(word.repeat(40_000), ALL))
          .isInstanceOf(CancelledException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void unknownTokenizersAreLeftToTheLibrary() throws IOException {
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

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8}) // the seed names the failing run
  void longPiecesOfRandomLettersHaveTheLibrarysIds(long seed) throws IOException {
    var letters = new Random(seed);
    var json = tokenizer("", ByteLevelEncoderTest::mergeAlways);
    try (var library = new LibraryEncoder(json);
        var ours = ByteLevelEncoder.of(parsed(json), new LibraryEncoder(json))) {
      var text = new StringBuilder();
      while (text.length() < 70_000) {
        text.append(letters.nextInt(20) == 0 ? "éß日𝒜".repeat(1 + letters.nextInt(3)) : "");
        text.append((char) ('a' + letters.nextInt(letters.nextBoolean() ? 26 : 3)));
      }
      assertThat(ours.encode(text.toString(), ALL)).isEqualTo(library.encode(text.toString(), ALL));
    }
  }

  @Test
  void aPieceTakesFewBytesOfHeapForEachOfItsOwn() throws IOException {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    var json = tokenizer("", _ -> {});
    try (var ours = ByteLevelEncoder.of(parsed(json), new LibraryEncoder(json))) {
      var text = "qzxjv".repeat(200_000);
      int tokens = ours.encode(text, ALL).length;
      long before = threads.getCurrentThreadAllocatedBytes();
      var ids = ours.encode(text, ALL);
      long taken = threads.getCurrentThreadAllocatedBytes() - before;
      assertThat(taken - 4L * Integer.BYTES * tokens) // the answer, and the list that it came in
          .isLessThan(10L * text.length());
      assertThat(ids).hasSize(tokens);
    }
  }

  @Test
  void encodingEndsWhereTheTokensAreTooMany() throws IOException {
    var json = tokenizer(CL100K.formatted("\\p{N}"), _ -> {});
    try (var ours = ByteLevelEncoder.of(parsed(json), new LibraryEncoder(json))) {
      var text = "1 ".repeat(500);
      int tokens = ours.encode(text, ALL).length;
      assertThat(ours.encode(text, tokens)).hasSize(tokens);
      assertThatThrownBy(() -> ours.encode(text, tokens - 1))
          .isInstanceOf(TooManyTokensException.class);
      assertThatThrownBy(() -> ours.encode("a".repeat(100_000), 10))
          .isInstanceOf(TooManyTokensException.class);
    }
  }
}
