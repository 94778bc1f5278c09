package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.json.Json;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TokenizerMetrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrefixCacheTest {
  private static final List<String> PIECES =
      List.of(
          "the water people found",
          " ",
          "  ",
          "\n",
          "\n\n",
          "<s>",
          "</s>",
          " </s> ",
          "<|im_start|>",
          "<|im_end|>",
          "<|im_end|>\n<|im_start|>user\n",
          "[INST]",
          "[INST]  ",
          "  [INST]",
          "<|im_",
          "start|>",
          "<|im_start|",
          "<unk>",
          "<think>",
          "</think>",
          "日本語",
          "é",
          "e\u0301",
          "🙂👩‍👩‍👧",
          "Straße.",
          "1234567",
          "'s",
          "▁",
          "▁▁",
          "<0x41>",
          "\t",
          "\u00a0",
          "\u3000",
          "ﬁ",
          "x",
          "##x",
          "<<s>>",
          "\0",
          "don't go");

  static Stream<String> kinds() {
    return TokenizerKindsTest.KINDS.stream();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void growingAndEditedChatsEncodeAsWithoutTheCache(String kind) throws IOException {
    var metrics = new Metrics();
    var cache = new PrefixCache(1 << 16, metrics); // small: parts come and go
    var files = Map.of("tokenizer.json", TokenizerKindsTest.resource(kind + ".json"));
    try (var plain = HuggingFaceText.of(files);
        var cached = HuggingFaceText.of(files, "", cache)) {
      for (long seed = 1; seed <= 12; seed++) {
        var random = new Random(seed);
        var chat = new ArrayList<String>();
        for (int turn = 0; turn < 25; turn++) {
          change(chat, random);
          var prompt = String.join("", chat);
          assertThat(cached.encode(prompt))
              .as("%s, seed %d, turn %d", kind, seed, turn)
              .isEqualTo(plain.encode(prompt));
        }
      }
    }

    assertThat(metrics.counter(TokenizerMetrics.CACHE_HITS).value()).isGreaterThan(50);
    assertThat(cache.bytes()).isZero();
    assertThat(cache.entries()).isZero();
  }

  /** Grows at the end mostly; now and then a piece in the middle changes or goes. */
  private static void change(List<String> chat, Random random) {
    int choice = chat.isEmpty() ? 9 : random.nextInt(10);
    if (choice == 0) {
      chat.set(random.nextInt(chat.size()), PIECES.get(random.nextInt(PIECES.size())));
    } else if (choice == 1) {
      chat.remove(random.nextInt(chat.size()));
    } else {
      for (int i = random.nextInt(120); i >= 0; i--) {
        chat.add(PIECES.get(random.nextInt(PIECES.size())));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"added_tokens\":[]",
        "\"added_tokens\":[{\"id\":1,\"content\":\"<x>\",\"normalized\":false,\"single_word\":true}]",
        "\"added_tokens\":[{\"id\":1,\"content\":\"<x>\",\"normalized\":true}],\"normalizer\":{\"type\":\"NFC\"}",
        "\"added_tokens\":[{\"id\":1,\"content\":\"<x>\",\"normalized\":false}],\"normalizer\":{\"type\":\"New\"}",
        "\"added_tokens\":[{\"id\":1,\"content\":\"<x>\",\"normalized\":false}],\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"New\"}]}",
        "\"added_tokens\":[{\"id\":1,\"content\":\"<x>\",\"normalized\":false}],\"model\":{\"type\":\"BPE\",\"dropout\":0.1}"
      })
  void aTokenizerThatMightJoinAcrossACutIsNotCut(String part) {
    var model = part.contains("\"model\"") ? "" : "\"model\":{\"type\":\"BPE\"},";

    assertThat(SafeCuts.of(tokenizer("{" + model + part + "}"))).isNull();
  }

  @Test
  void cutsLieBeforeTokensThatLookNowhereElse() {
    var cuts =
        SafeCuts.of(
            tokenizer(
                """
                {"model":{"type":"BPE"},"added_tokens":[
                  {"content":"<a>","normalized":false},{"content":"<a><b>","normalized":false},
                  {"content":"<l>","normalized":false,"lstrip":true},{"content":" <s>","normalized":false}]}\
                """));
    assertThat(cuts).isNotNull();
    var walk = Objects.requireNonNull(cuts).walk("x<a>y<a><b><l> <s><a>");

    assertThat(Stream.of(1, 2, 3, 4).map(_ -> walk.next())).containsExactly(1, 5, 18, 21);
  }

  @Test
  void leastRecentlyUsedPartsGoFirst() {
    var cache = new PrefixCache(4 * (160 + 2 + 4), new Metrics());
    for (var part : List.of("a", "b", "c", "d")) {
      cache.keep(this, part, new int[] {1});
    }
    assertThat(cache.find(this, "a")).containsExactly(1);

    cache.keep(this, "e", new int[] {2});

    assertThat(cache.find(this, "b")).isNull();
    assertThat(cache.find(this, "a")).containsExactly(1);
    assertThat(cache.find("another owner", "a")).isNull();
    assertThat(cache.entries()).isEqualTo(4);
    assertThat(cache.bytes()).isEqualTo(4 * (160 + 2 + 4));
  }

  @Test
  void aPartThatWouldFillTheCacheIsNotKept() {
    var cache = new PrefixCache(1000, new Metrics());

    cache.keep(this, "x".repeat(200), new int[0]);

    assertThat(cache.entries()).isZero();
  }

  @Test
  void withoutRoomNothingIsCountedOrKept() throws IOException {
    var metrics = new Metrics();
    var files = Map.of("tokenizer.json", TokenizerKindsTest.resource("byte_level.json"));
    var prompt = "<|im_start|>the water<|im_end|>".repeat(100);
    try (var text = HuggingFaceText.of(files, "", new PrefixCache(0, metrics))) {
      assertThat(text.encode(prompt)).isNotEmpty();
    }

    assertThat(metrics.counter(TokenizerMetrics.CACHE_MISSES).value()).isZero();
  }

  private static Map<?, ?> tokenizer(String json) {
    return (Map<?, ?>) Objects.requireNonNull(Json.readFile("tokenizer.json", json));
  }
}
