package io.dynamo.frontend.postprocess.tools;

import static io.dynamo.frontend.postprocess.message.JoinedMessage.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.postprocess.message.JoinedMessage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Inkling's blocks and Muse Glimmer's messages, cut at every place. */
final class RoutedMessagesTest {
  private static final String THINK = "<|content_thinking|>";
  private static final String TEXT = "<|content_text|>";
  private static final String CALL = "<|content_invoke_tool_json|>";
  private static final String END = "<|end_message|>";
  private static final String MODEL = "<|message_model|>";

  private static JoinedMessage inkling(String text) {
    return JoinedMessage.atEveryCut(() -> RoutedMessages.inkling(true, true), text);
  }

  private static JoinedMessage muse(String text) {
    return JoinedMessage.atEveryCut(() -> RoutedMessages.muse(true, true, ToolSchemas.NONE), text);
  }

  private static String invoke(String name, String parameters) {
    return "<atem:function_calls>\n<atem:invoke name=\""
        + name
        + "\">\n"
        + parameters
        + "</atem:invoke>\n</atem:function_calls>";
  }

  @Test
  void blocksOfEveryKindAreSeparated() {
    assertThat(
            inkling(
                THINK
                    + "hm < 3"
                    + END
                    + MODEL
                    + TEXT
                    + "Done."
                    + END
                    + MODEL
                    + "f"
                    + CALL
                    + "{\"name\":\"f\",\"args\":{\"a\": [1, \"}\"]}}"
                    + END
                    + "<|content_model_end_sampling|>"))
        .isEqualTo(content("Done.").thought("hm < 3").call("f", "{\"a\": [1, \"}\"]}"));
    assertThat(
            inkling(
                CALL
                    + "{\"args\":{\"p\":\"x\"},\"name\":\"w\"}"
                    + END
                    + MODEL
                    + CALL
                    + " {\"name\":\"g\"} "
                    + END
                    + MODEL
                    + TEXT
                    + "b"
                    + END))
        .isEqualTo(content("b").call("w", "{\"p\":\"x\"}").call("g", "{}"));
  }

  @Test
  void aBlockThatIsCutOffIsClosed() {
    assertThat(inkling(THINK + "so fa")).isEqualTo(content("").thought("so fa"));
    assertThat(inkling(CALL + "{\"name\":\"f\",\"args\":{\"a\":\"x"))
        .isEqualTo(content("").call("f", "{\"a\":\"x\"}"));
    assertThat(inkling(CALL + "{\"name\":\"f\",\"ar"))
        .as("too little for a call")
        .isEqualTo(content("{\"name\":\"f\",\"ar"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Hello", "Hello there, <b>you</b>", "weather_tool", "", "<|", "a <|messa"})
  void textWithoutAFrameIsContent(String text) {
    assertThat(inkling(text)).isEqualTo(content(text));
    assertThat(muse(text)).isEqualTo(content(text));
  }

  @Test
  void textThatIsNoCallInACallBlockIsContent() {
    assertThat(inkling(CALL + "not JSON" + END)).isEqualTo(content("not JSON"));
    assertThat(inkling("<|content_invoke_tool_text|>ls -l" + END)).isEqualTo(content("ls -l"));
    assertThat(inkling(CALL + "{\"name\":\"f\",\"args\":{}} and more" + END))
        .isEqualTo(content("and more").call("f", "{}"));
  }

  @Test
  void withoutToolsOrThoughtsTheirTextIsContent() {
    assertThat(
            JoinedMessage.atEveryCut(
                () -> RoutedMessages.inkling(false, false),
                THINK + "a" + END + CALL + "{\"name\":\"f\",\"args\":{}}" + END))
        .isEqualTo(content("a{\"name\":\"f\",\"args\":{}}"));
  }

  @Test
  void messagesGoWhereTheirRecipientSays() {
    assertThat(
            muse(
                " to=self<|message|>Let me see.<|eom|><|start|>assistant to=w.get<|message|>\n"
                    + invoke(
                        "w.get",
                        """
                        <atem:parameter name="city">Paris</atem:parameter>
                        <atem:parameter name="n">[1, 2]</atem:parameter>
                        """)
                    + "<|eom|><|start|>assistant to=user<|message|>Sunny.<|eot|>"))
        .satisfies(
            folded -> {
              assertThat(folded.reasoning()).isEqualTo("Let me see.");
              assertThat(folded.content().strip()).isEqualTo("Sunny.");
              assertThat(folded.calls())
                  .containsExactly(
                      new JoinedMessage.Call("w.get", "{\"city\":\"Paris\",\"n\":[1,2]}"));
            });
    assertThat(muse("<|message|>plain<|eot|>")).isEqualTo(content("plain"));
  }

  @Test
  void aCallThatIsQuotedIsNone() {
    var quoted = invoke("f", "<atem:parameter name=\"a\">1</atem:parameter>\n");
    assertThat(muse(" to=self<|message|>" + quoted + "<|eom|>"))
        .isEqualTo(content("").thought(quoted));
    assertThat(muse(" to=user<|message|>" + quoted + "<|eot|>")).isEqualTo(content(quoted));
    assertThat(muse("a<|eom|> to=f<|message|>" + quoted).calls())
        .as("a header without its mark, later than the first")
        .isEmpty();
    assertThat(muse(" to=self<|message|>" + quoted).calls()).as("cut off").isEmpty();
  }

  @Test
  void aValueKeepsItsSpaceAndItsTags() {
    assertThat(
            muse(" to=f<|message|>"
                    + invoke("f", "<atem:parameter name=\"a\"> <b>x</b>\n</atem:parameter>\n"))
                .calls())
        .containsExactly(new JoinedMessage.Call("f", "{\"a\":\" <b>x</b>\\n\"}"));
  }

  @Test
  void aNamespaceOfTheModelsOwnIsTakenAway() {
    var schemas =
        ToolSchemas.of(
            List.of(
                Map.of("function", Map.of("name", "get_weather")),
                Map.of("function", Map.of("name", "file.read"))));
    for (var names :
        List.of(
            List.of("get_weather.get_weather", "get_weather"),
            List.of("file.read", "file.read"),
            List.of("x.unknown", "x.unknown"))) {
      var text = " to=" + names.getFirst() + "<|message|>" + invoke(names.getFirst(), "");
      assertThat(
              JoinedMessage.atEveryCut(() -> RoutedMessages.muse(true, true, schemas), text)
                  .calls())
          .extracting(JoinedMessage.Call::name)
          .containsExactly(names.getLast());
    }
  }

  @Test
  void aValueIsTypedByTheToolThatIsMeant() {
    var schemas =
        ToolSchemas.of(
            List.of(
                Map.of(
                    "function",
                    Map.of(
                        "name",
                        "f",
                        "parameters",
                        Map.of("properties", Map.of("zip", Map.of("type", "string")))))));
    var text =
        " to=f.f<|message|>"
            + invoke("f.f", "<atem:parameter name=\"zip\">01234</atem:parameter>\n");
    assertThat(
            JoinedMessage.atEveryCut(() -> RoutedMessages.muse(true, true, schemas), text).calls())
        .containsExactly(new JoinedMessage.Call("f", "{\"zip\":\"01234\"}"));
  }
}
