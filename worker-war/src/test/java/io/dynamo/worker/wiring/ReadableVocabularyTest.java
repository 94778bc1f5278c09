package io.dynamo.worker.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ReadableVocabularyTest {
  private static ReadableVocabulary read(String json) {
    return ReadableVocabulary.of(Json.readObject(json.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void wordsAreTakenAndBytesMarksAndSpecialTokensAreNot() {
    var vocabulary =
        read(
            """
            {"added_tokens": [{"id": 6, "content": "eos"}],
             "model": {"vocab": {"!": 0, "the": 9, "cat": 2, "a": 3, "\u00c3": 4,
                                 "x1": 5, "eos": 6, "\u0120": 7, "\u0120dog": 8}}}
            """);
    assertThat(vocabulary.words()).containsExactly(2, 9);
    assertThat(vocabulary.separator()).hasValue(7);
  }

  @Test
  void wordsThatBringASpaceAlongNeedNoSeparator() {
    var vocabulary =
        read(
            """
            {"model": {"vocab": {"the": 9, "\u0120cat": 2, "\u0120": 7, "\u2581dog": 8}}}
            """);
    assertThat(vocabulary.words()).containsExactly(2, 8);
    assertThat(vocabulary.separator()).isEmpty();
  }

  @Test
  void bareWordsAloneAreTakenToo() {
    var vocabulary = read("{\"model\": {\"vocab\": {\"the\": 1, \"cat\": 0}}}");
    assertThat(vocabulary.words()).containsExactly(0, 1);
    assertThat(vocabulary.separator()).isEmpty();
  }

  @Test
  void tokenizerWithoutWordsIsRefused() {
    assertThatThrownBy(() -> read("{\"model\": {\"vocab\": {\"!\": 0, \"the\": 1}}}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 words");
  }
}
