package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PromptTextTest {
  /** One control token, text, another, and its name. */
  private static PromptText inParts() {
    var parts = new PromptText.Builder();
    parts.addControl("<|a|>");
    parts.addText(" hi\0 ");
    parts.addText("");
    parts.addControl("<|b|>");
    parts.addText("end");
    return parts.build();
  }

  private static List<String> parts(PromptText prompt) {
    var parts = new ArrayList<String>();
    for (int i = 0; i < prompt.parts(); i++) {
      parts.add((prompt.isControl(i) ? "!" : "") + prompt.part(i));
    }
    return parts;
  }

  @Test
  void partsMakeTheText() {
    assertThat(inParts().text()).isEqualTo("<|a|> hi\0 <|b|>end");
    assertThat(parts(inParts())).containsExactly("!<|a|>", " hi\0 ", "!<|b|>", "end");
    assertThat(PromptText.whole("<|a|>").isWhole()).isTrue();
    assertThat(inParts().isWhole()).isFalse();
    assertThat(new PromptText.Builder().build().isWhole()).isFalse();
  }

  @Test
  void nulIsRemovedFromParts() {
    assertThat(parts(inParts().withoutNul())).containsExactly("!<|a|>", " hi ", "!<|b|>", "end");
    assertThat(PromptText.whole("a\0b").withoutNul().text()).isEqualTo("ab");
  }

  @ParameterizedTest
  @CsvSource(
      value = {
        "0,''",
        "3,<|a",
        "5,!<|a|>",
        "7,'!<|a|>| h'",
        "10,'!<|a|>| hi_ '",
        "15,'!<|a|>| hi_ |!<|b|>'",
        "18,'!<|a|>| hi_ |!<|b|>|end'"
      })
  void theFirstPartsStayAsTheyAre(int end, String expected) {
    var first = inParts().first(end);

    assertThat(String.join("|", parts(first)).replace('\0', '_')).isEqualTo(expected);
    assertThat(first.text()).isEqualTo(inParts().text().substring(0, end));
    assertThat(PromptText.whole("a<|b|>").first(3).text()).isEqualTo("a<|");
  }

  @Test
  void theEndOfTheLastMarkedContentIsKnown() {
    var builder = new PromptText.Builder();
    builder.addText("message");
    builder.endContent();
    builder.addControl("<|b|>");
    builder.addText("message");
    builder.endContent();
    builder.addControl("<|b|>");

    assertThat(builder.build().contentEnd()).isEqualTo(19);
    assertThat(PromptText.whole("message").contentEnd()).isEqualTo(-1);
    assertThat(inParts().contentEnd()).isEqualTo(-1);
  }
}
