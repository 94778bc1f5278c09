package io.dynamo.frontend.postprocess.tools;

import static io.dynamo.frontend.postprocess.message.JoinedMessage.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.postprocess.message.JoinedMessage;
import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Python lists, Gemma's braces, Harmony's channels and what guided decoding gives. */
final class OtherGrammarsTest {
  private static final JoinedMessage NOTHING = content("");

  private static JoinedMessage pythonic(String text) {
    return JoinedMessage.atEveryCut(PythonicCalls::new, text);
  }

  private static JoinedMessage gemma(String text) {
    return JoinedMessage.atEveryCut(GemmaCalls::new, text);
  }

  private static JoinedMessage harmony(String text) {
    return JoinedMessage.atEveryCut(() -> new HarmonyMessages(true, true), text);
  }

  @Test
  void pythonListsOfCallsAreRead() {
    assertThat(pythonic("[f(a=1, b='it\\'s', c=[1, 2.5], d={'k': True, \"l\": None}), g()]"))
        .isEqualTo(
            NOTHING
                .call("f", "{\"a\":1,\"b\":\"it's\",\"c\":[1,2.5],\"d\":{\"k\":true,\"l\":null}}")
                .call("g", "{}"));
    assertThat(pythonic("Sure: [get_weather(city=\"São [x] (y)\\n\", t=(1,),)] done"))
        .isEqualTo(
            content("Sure:  done").call("get_weather", "{\"city\":\"São [x] (y)\\n\",\"t\":[1]}"));
    assertThat(pythonic("<|python_start|>[f(u=\"\\u00e9\\x41\")]<|python_end|>"))
        .isEqualTo(NOTHING.call("f", "{\"u\":\"éA\"}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[a link](http://x.y)",
        "see [1] and [f(x)] and [see f(x=1)]",
        "[f(a=1) is odd]",
        "[f(a=1",
        "[f(a=b)]",
        "array[i] = x[f(a=1)](b)" + "[",
        "[[f(a=1)",
        ""
      })
  void bracketsThatAreNoCallsAreText(String text) {
    if (!text.contains("x[f(a=1)]")) {
      assertThat(pythonic(text)).isEqualTo(content(text));
    } else {
      assertThat(pythonic(text)).isEqualTo(content("array[i] = x(b)[").call("f", "{\"a\":1}"));
    }
  }

  @Test
  void aLongPythonicCallIsFoundWithinBounds() {
    var text = "[f(a=\"" + "x".repeat(20_000) + "\")]";
    var parser = new PythonicCalls();
    var sink = new JoinedMessage.FoldingSink();
    text.codePoints().forEach(c -> parser.accept(Character.toString(c), sink));
    parser.finish(sink);
    assertThat(sink.folded().calls()).hasSize(1);
  }

  @Test
  void gemmasCallsAreRead() {
    var q = "<|\"|>";
    assertThat(
            gemma(
                "Ok <|tool_call>call:f{s:"
                    + q
                    + "a \"b\" {,} <tool_call|>"
                    + q
                    + ",n:-1.5,l:["
                    + q
                    + "x"
                    + q
                    + ",true],o:{k:null, "
                    + q
                    + "a b"
                    + q
                    + ":1},w:word}<tool_call|><|tool_call>call:g{}<tool_call|>!"))
        .isEqualTo(
            content("Ok !")
                .call(
                    "f",
                    "{\"s\":\"a \\\"b\\\" {,} <tool_call|>\",\"n\":-1.5,\"l\":[\"x\",true],"
                        + "\"o\":{\"k\":null,\"a b\":1},\"w\":\"word\"}")
                .call("g", "{}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<|tool_call>call:f{a:1",
        "<|tool_call>call:f{a:1<tool_call|>",
        "<|tool_call>nothing<tool_call|> x",
        "<|tool_call>call:f(a=1)<tool_call|>",
        "a <|tool"
      })
  void gemmasTextThatIsNoCallIsGivenBack(String text) {
    assertThat(gemma(text)).isEqualTo(content(text));
  }

  @Test
  void harmonysChannelsAreSeparated() {
    assertThat(
            harmony(
                "<|channel|>analysis<|message|>need < weather<|end|>"
                    + "<|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
                    + "<|start|>assistant<|channel|>commentary to=functions.get_weather"
                    + " <|constrain|>json<|message|>{\"city\": \"<|end|> Paris\"}<|call|>"))
        .isEqualTo(
            content("I look.")
                .thought("need < weather")
                .call("get_weather", "{\"city\": \"<|end|> Paris\"}"));
    assertThat(
            harmony(
                "<|channel|>analysis<|message|>hm<|end|>"
                    + "<|start|>assistant<|channel|>final<|message|>answer<|return|>"))
        .isEqualTo(content("answer").thought("hm"));
    assertThat(
            harmony(
                "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>"
                    + "<|start|>assistant<|channel|>commentary to=g<|message|><|call|>"))
        .isEqualTo(NOTHING.call("f", "{}").call("g", "{}"));
  }

  @Test
  void harmonyMayEndAnywhere() {
    assertThat(harmony("no channels at all")).isEqualTo(content("no channels at all"));
    assertThat(harmony("<|channel|>analysis<|message|>hm<|channel|>final<|message|>x"))
        .isEqualTo(content("x").thought("hm"));
    assertThat(harmony("<|channel|>analysis<|message|>hm<|end|><|start|>assist"))
        .isEqualTo(NOTHING.thought("hm"));
    assertThat(harmony("<|channel|>commentary to=functions.f<|message|>{\"a\": \"x"))
        .isEqualTo(NOTHING.call("f", "{\"a\": \"x\"}"));
    assertThat(harmony("<|channel|>commentary to=functions.f<|message|>no JSON<|call|>"))
        .isEqualTo(content("no JSON"));
    assertThat(harmony("<|message|>x<|end|><|call|>")).isEqualTo(content("x"));
  }

  @Test
  void harmonyWithoutPartsIsContent() {
    var text =
        "<|channel|>analysis<|message|>hm<|end|><|channel|>commentary to=functions.f<|message|>{}";
    assertThat(JoinedMessage.atEveryCut(() -> new HarmonyMessages(false, false), text))
        .isEqualTo(content("hm{}"));
    assertThat(JoinedMessage.atEveryCut(() -> new HarmonyMessages(false, true), text))
        .isEqualTo(content("hm").call("f", "{}"));
  }

  @Test
  void guidedArgumentsAreTheNamedCall() {
    Supplier<MessageParser> named =
        () -> ToolFamily.named("f", ToolFamily.HERMES.parser(ToolSchemas.NONE));
    assertThat(JoinedMessage.atEveryCut(named, " {\"city\":\"Oslo\"}\n"))
        .isEqualTo(NOTHING.call("f", "{\"city\":\"Oslo\"}"));
    assertThat(JoinedMessage.atEveryCut(named, "{\"city\":\"Os"))
        .isEqualTo(NOTHING.call("f", "{\"city\":\"Os\"}"));
    assertThat(JoinedMessage.atEveryCut(named, "just prose")).isEqualTo(content("just prose"));
    assertThat(JoinedMessage.atEveryCut(named, "  ")).isEqualTo(content("  "));
    assertThat(
            JoinedMessage.atEveryCut(
                named, "\n<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>"))
        .isEqualTo(content("\n").call("g", "{}"));
  }

  @Test
  void aGuidedArrayIsTheRequiredCalls() {
    Supplier<MessageParser> required = () -> ToolFamily.required(ToolFamily.none());
    assertThat(
            JoinedMessage.atEveryCut(
                required,
                "[{\"name\":\"f\",\"parameters\":{\"a\":1}},{\"name\":\"g\",\"parameters\":{}}]"))
        .isEqualTo(NOTHING.call("f", "{\"a\":1}").call("g", "{}"));
    assertThat(JoinedMessage.atEveryCut(required, "just prose")).isEqualTo(content("just prose"));
    assertThat(JoinedMessage.atEveryCut(required, "[1, 2]")).isEqualTo(content("[1, 2]"));
  }

  @Test
  void onlyTheFirstCallPassesWhenOneIsAllowed() {
    var call = "<tool_call>{\"name\": \"%s\", \"arguments\": {}}</tool_call>";
    var text = "a " + call.formatted("f") + "\n" + call.formatted("g") + " \n";
    assertThat(through(text, true, null)).isEqualTo(content("a  \n").call("f", "{}"));
    assertThat(through(text + "b", true, null)).isEqualTo(content("a  \nb").call("f", "{}"));
    assertThat(through(text, false, "g")).isEqualTo(content("a \n \n").call("g", "{}"));
  }

  private static JoinedMessage through(String text, boolean single, @Nullable String only) {
    return JoinedMessage.atEveryCut(
        () -> {
          var parser = ToolFamily.HERMES.parser(ToolSchemas.NONE);
          return new MessageParser() {
            private @Nullable CallPolicy policy;

            @Override
            public void accept(String part, MessageSink sink) {
              policy = policy == null ? new CallPolicy(sink, single, only) : policy;
              parser.accept(part, policy);
            }

            @Override
            public boolean isInCall() {
              return parser.isInCall();
            }

            @Override
            public void finish(MessageSink sink) {
              var last = policy == null ? new CallPolicy(sink, single, only) : policy;
              parser.finish(last);
              last.finish();
            }
          };
        },
        text);
  }

  @Test
  void endMarkersWithinAStringAreText() {
    var ends = "<tool_call|>".repeat(5);
    assertThat(gemma("<|tool_call>call:f{a:<|\"|>" + ends + "<|\"|>}<tool_call|>"))
        .isEqualTo(content("").call("f", "{\"a\":\"" + ends + "\"}"));
  }

  @Test
  void aStringOfManyEndMarkersIsNotReadAnewForEach() {
    var ends = "<tool_call|>".repeat(20_000);
    var text = "<|tool_call>call:f{a:<|\"|>" + "x".repeat(20_000) + ends;
    var whole =
        Assertions.assertTimeoutPreemptively(
            Duration.ofSeconds(5), () -> JoinedMessage.of(new GemmaCalls(), List.of(text)));
    assertThat(whole.calls()).isEmpty();
    assertThat(whole.content()).startsWith("<|tool_call>call:f{a:<|\"|>xxx");
  }

  @Test
  void everyNameHasAParser() {
    assertThat(ToolFamily.allNames())
        .contains("hermes", "qwen25", "pythonic", "harmony", "glm47", "kimi_k2", "nemotron_nano")
        .allSatisfy(
            name -> {
              var parser = ToolFamily.named(name).orElseThrow().parser(ToolSchemas.NONE);
              assertThat(JoinedMessage.of(parser, List.of("plain ", "text < [ {")))
                  .isEqualTo(content("plain text < [ {"));
            });
    assertThat(ToolFamily.named("nonesuch")).isEmpty();
  }
}
