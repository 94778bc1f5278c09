package io.dynamo.worker.engine.llama.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ChoiceGuideTest {
  private static final List<String> TEXTS =
      List.of("a", "b", "ab", "abc", "bca", "cc", "aab", "ca");
  private static final int END = TEXTS.size();
  private static final int VOCABULARY = END + 1;
  private static final TokenTrie TOKENS = TokenTrie.of(Json.readObject(tokenizer()));

  private static byte[] tokenizer() {
    var vocabulary = new ArrayList<String>();
    for (int id = 0; id < TEXTS.size(); id++) {
      vocabulary.add("\"%s\": %d".formatted(TEXTS.get(id), id));
    }
    return "{\"decoder\": {\"type\": \"ByteLevel\"}, \"model\": {\"vocab\": {%s}}}"
        .formatted(String.join(",", vocabulary))
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Whether tokens can write {@code text}. */
  private static boolean isWritable(String text) {
    return text.isEmpty()
        || TEXTS.stream()
            .anyMatch(it -> text.startsWith(it) && isWritable(text.substring(it.length())));
  }

  @Test
  void tokensAreAllowedThatCanBeGoneOnWith() {
    var random = new Random(3);
    for (int round = 0; round < 300; round++) {
      var choices = new TreeSet<String>();
      while (choices.size() < 6) {
        var text = new StringBuilder();
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
          text.append((char) ('a' + random.nextInt(3)));
        }
        if (isWritable(text.toString())) {
          choices.add(text.toString());
        }
      }
      var guide = new ChoiceGuide(TOKENS, new ArrayList<>(choices));
      for (var written = ""; ; ) {
        var so = written;
        var allowed = allowed(guide);
        for (int id = 0; id < TEXTS.size(); id++) {
          var then = so + TEXTS.get(id);
          boolean goesOn =
              choices.stream()
                  .anyMatch(it -> it.startsWith(then) && isWritable(it.substring(then.length())));
          assertThat(allowed.contains(id)).as("%s then %s", choices, then).isEqualTo(goesOn);
        }
        assertThat(allowed.contains(END)).isEqualTo(choices.contains(so));
        assertThat(guide.isComplete())
            .isEqualTo(
                choices.contains(so)
                    && choices.stream()
                        .noneMatch(it -> it.length() > so.length() && it.startsWith(so)));
        allowed.remove((Object) END);
        if (allowed.isEmpty()) {
          break;
        }
        int token = allowed.get(random.nextInt(allowed.size()));
        guide.accept(token);
        written += TEXTS.get(token);
      }
    }
  }

  private static List<Integer> allowed(ChoiceGuide guide) {
    var logits = new float[VOCABULARY];
    guide.restrict(logits, 0, VOCABULARY, new int[] {END});
    var allowed = new ArrayList<Integer>();
    for (int id = 0; id < VOCABULARY; id++) {
      if (logits[id] == 0) {
        allowed.add(id);
      }
    }
    return allowed;
  }

  @Test
  void choiceThatNoTokensWriteIsRefused() {
    assertThatThrownBy(() -> allowed(new ChoiceGuide(TOKENS, List.of("a", "abx"))))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("no token");
  }

  @Test
  void tooManyOrTooLongChoicesAreRefused() {
    assertThatThrownBy(() -> new ChoiceGuide(TOKENS, Collections.nCopies(1025, "a")))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("1025 choices, at most 1024");
    assertThatThrownBy(
            () -> new ChoiceGuide(TOKENS, List.of("a".repeat(65_000), "\u00e9".repeat(300))))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("65600 bytes together, at most 65536");
    assertThatThrownBy(() -> new ChoiceGuide(TOKENS, List.of("a", "")))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("empty");
  }

  /** Shared beginnings are visited once, no matter how many choices share them. */
  @Test
  void treeHoldsSharedBeginningsOnce() {
    var choices = new ArrayList<String>();
    for (int i = 0; i < 500; i++) {
      choices.add("a".repeat(100) + "b".repeat(i % 5) + (i % 2 == 0 ? "" : "c"));
    }
    assertThat(new ChoiceTrie(choices, 64 << 10).size()).isLessThanOrEqualTo(1 + 100 + 5 + 5);
  }
}
