package io.dynamo.frontend.postprocess.reasoning;

import static io.dynamo.frontend.postprocess.message.JoinedMessage.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.postprocess.message.JoinedMessage;
import io.dynamo.frontend.postprocess.tools.ToolFamily;
import io.dynamo.frontend.postprocess.tools.ToolSchemas;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ReasoningFamilyTest {
  private static ReasoningFamily family(String name) {
    return ReasoningFamily.named(name).orElseThrow();
  }

  private static JoinedMessage parse(String name, String prompt, String text) {
    return JoinedMessage.atEveryCut(
        () -> family(name).parser(prompt, false, ToolFamily.none()), text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '¦',
      quoteCharacter = '`',
      ignoreLeadingAndTrailingWhitespace = true,
      textBlock =
          """
          qwen3         ¦ <think>hmm</think>ok                ¦ hmm     ¦ ok
          qwen3         ¦ no thoughts                         ¦         ¦ no thoughts
          qwen3         ¦ a <think>b</think> c <think>d       ¦ bd      ¦ a  c
          qwen3         ¦ <think>one</think>A<think>two</think>B ¦ onetwo ¦ AB
          qwen3         ¦ one</think>A<think>two</think>B     ¦ two     ¦ oneAB
          qwen3         ¦ <think>one</think>A</think>B        ¦ one     ¦ AB
          qwen3         ¦ <think>one<think>nest</think>in</think>B ¦ one<think>nest ¦ inB
          qwen3         ¦ <think>one</think><think>two</think>C ¦ onetwo ¦ C
          qwen3         ¦ <think>one</think>A<thi B           ¦ one     ¦ A<thi B
          deepseek_r1   ¦ one</think>A<think>two</think>B     ¦ onetwo  ¦ AB
          deepseek_r1   ¦ <think>one</think>A<think>two</think>B ¦ onetwo ¦ AB
          minimax_m2    ¦ one</think>A<think>two</think>B     ¦ onetwo  ¦ AB
          kimi          ¦ ◁think▷one◁/think▷A◁think▷two◁/think▷B ¦ onetwo ¦ AB
          kimi_k3       ¦ <|open|>think<|sep|>one<|close|>think<|sep|>A<|open|>think<|sep|>tw ¦ onetw ¦ A
          minimax_m3    ¦ <mm:think>one</mm:think>A<mm:think>two</mm:think>B ¦ onetwo ¦ AB
          granite       ¦ AHere's my thought process:oneHere's my response:BHere's my response:C ¦ one ¦ ABC
          gemma4        ¦ <|channel>a<channel|>b<|channel>c<channel|>d<channel|>e ¦ ac ¦ bde
          qwen3         ¦ <think>a < b </thinks></think>c     ¦ a < b </thinks> ¦ c
          qwen3         ¦ <think>never closes</thi            ¦ never closes</thi ¦
          qwen3         ¦ a <thi                              ¦         ¦ a <thi
          qwen3         ¦ lone</think>                        ¦         ¦ lone
          deepseek_r1   ¦ thinking</think>answer              ¦ thinking ¦ answer
          deepseek_r1   ¦ <think>thinking</think>answer       ¦ thinking ¦ answer
          deepseek_r1   ¦ a <think>b</think>c                 ¦ a <think>b ¦ c
          deepseek_r1   ¦ never closes at all                 ¦ never closes at all ¦
          kimi          ¦ ◁think▷思考◁/think▷答               ¦ 思考    ¦ 答
          mistral       ¦ [THINK]hm[/THINK]answer             ¦ hm      ¦ answer
          minimax_m3    ¦ <mm:think>a</mm:think>b             ¦ a       ¦ b
          minimax_m3    ¦ lone</mm:think>b                    ¦         ¦ loneb
          kimi_k3       ¦ <|open|>think<|sep|>a<|close|>think<|sep|>b ¦ a ¦ b
          gemma4        ¦ <|channel>a<channel|>b              ¦ a       ¦ b
          granite       ¦ Here is my thought process: a Here's my response: b ¦ a ¦ b
          granite       ¦ Here is my hat.                     ¦         ¦ Here is my hat.
          minimax_append_think ¦ a</think>b                   ¦         ¦ <think>a</think>b
          """)
  void thoughtsAreTakenOut(String name, String text, String reasoning, String content) {
    var folded = parse(name, "", text);
    assertThat(folded.reasoning().strip()).isEqualTo(reasoning == null ? "" : reasoning);
    assertThat(folded.content().strip()).isEqualTo(content == null ? "" : content);
    assertThat(folded.calls()).isEmpty();
  }

  @Test
  void spaceIsKeptAsItIs() {
    assertThat(parse("qwen3", "", "<think>\nhmm\n</think>\n\nok"))
        .isEqualTo(content("\n\nok").thought("\nhmm\n"));
    assertThat(parse("deepseek_r1", "", "\n<think>\nhmm</think> ok"))
        .isEqualTo(content(" ok").thought("\n\nhmm"));
    assertThat(parse("gemma4", "", "<|channel>thought\nhm\n<channel|>ok"))
        .isEqualTo(content("ok").thought("hm\n"));
  }

  @Test
  void aPromptThatOpensAThoughtBeginsWithinIt() {
    assertThat(parse("qwen3", "<|im_start|>assistant\n<think>\n", "hm</think>ok"))
        .isEqualTo(content("ok").thought("hm"));
    assertThat(parse("qwen3", "<think>\n\n</think>\n\n", "ok")).isEqualTo(content("ok"));
    assertThat(parse("nemotron_v3", "<think></think>", "ok")).isEqualTo(content("ok"));
  }

  @Test
  void aToolCallEndsThoughtsOfSomeFamiliesOnly() {
    var kimi =
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
            + "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>";
    assertThat(
            JoinedMessage.atEveryCut(
                () ->
                    family("kimi_k25")
                        .parser("", false, ToolFamily.KIMI_K2.parser(ToolSchemas.NONE)),
                "hm " + kimi))
        .isEqualTo(content("").thought("hm ").call("f", "{}"));
    var hermes = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    assertThat(
            JoinedMessage.atEveryCut(
                () -> family("qwen3").parser("", false, ToolFamily.HERMES.parser(ToolSchemas.NONE)),
                "<think>hm " + hermes + "</think>" + hermes))
        .isEqualTo(content("").thought("hm " + hermes).call("f", "{}"));
  }

  @Test
  void marksWithinTheArgumentsOfACallBelongToTheCall() {
    var arguments = "{\"a\": \"x <think>y</think> z\"}";
    var text =
        "<think>one</think>A<tool_call>{\"name\": \"f\", \"arguments\": "
            + arguments
            + "}</tool_call><think>two</think>B";
    assertThat(
            JoinedMessage.atEveryCut(
                () -> family("qwen3").parser("", false, ToolFamily.HERMES.parser(ToolSchemas.NONE)),
                text))
        .isEqualTo(content("AB").thought("onetwo").call("f", arguments));
    assertThat(
            JoinedMessage.atEveryCut(
                () -> family("qwen3").parser("", false, ToolFamily.named("f", ToolFamily.none())),
                "<think>one</think>" + arguments))
        .isEqualTo(content("").thought("one").call("f", arguments));
    var tagged =
        """
        <tool_call>
        <function=f>
        <parameter=a>
        <think>y</think>
        </parameter>
        </function>
        </tool_call>""";
    assertThat(
            JoinedMessage.atEveryCut(
                () ->
                    family("qwen3")
                        .parser("", false, ToolFamily.QWEN3_CODER.parser(ToolSchemas.NONE)),
                "<think>one</think>" + tagged + "<think>two</think>"))
        .isEqualTo(content("").thought("onetwo").call("f", "{\"a\":\"<think>y</think>\"}"));
  }

  @Test
  void guidedJsonIsNoThought() {
    var r1 = family("deepseek_r1");
    assertThat(JoinedMessage.atEveryCut(() -> r1.parser("", true, ToolFamily.none()), " {\"a\":1}"))
        .isEqualTo(content(" {\"a\":1}"));
    var quoting = "{\"a\":\"<think>b</think>\"}";
    assertThat(JoinedMessage.atEveryCut(() -> r1.parser("", true, ToolFamily.none()), quoting))
        .isEqualTo(content(quoting));
    assertThat(
            JoinedMessage.atEveryCut(() -> r1.parser("", true, ToolFamily.none()), "hm</think>{}"))
        .isEqualTo(content("{}").thought("hm"));
  }

  @ParameterizedTest
  @CsvSource({
    "qwen3, enable_thinking, false, true",
    "deepseek_r1, enable_thinking, false, false",
    "deepseek_r1, thinking, false, false",
    "deepseek_r1, reasoning_effort, none, false",
    "deepseek_r1, reasoning_effort, low, true",
    "deepseek_r1, thinking_mode, disabled, false",
    "deepseek_v3_1, thinking, true, true",
    "deepseek_v3_1, other, true, false",
    "mistral, other, true, false",
    "mistral, reasoning_effort, high, true",
    "mistral, reasoning_effort, none, false",
    "gemma4, other, true, false",
    "gemma4, enable_thinking, true, true",
    "minimax_m3, thinking_mode, disabled, false"
  })
  void aRequestTurnsThinkingOnAndOff(String name, String key, String value, boolean applies) {
    Object json =
        value.equals("true") || value.equals("false") ? Boolean.valueOf(value) : (Object) value;
    assertThat(family(name).appliesTo(ThinkingControls.of(Map.of(key, json)), () -> "a</think>"))
        .isEqualTo(applies);
  }

  @Test
  void aThoughtThatThePromptOpensNeedsNoDemand() {
    var family = family("deepseek_v3_2");
    assertThat(family.appliesTo(ThinkingControls.of(Map.of()), () -> "a<think>\n")).isTrue();
    assertThat(family.appliesTo(ThinkingControls.of(Map.of()), () -> "a</think>")).isFalse();
    assertThat(family.appliesTo(ThinkingControls.of(Map.of("thinking", false)), () -> "a<think>"))
        .isFalse();
  }

  @Test
  void everyNameOfTheReferenceIsKnown() {
    assertThat(ReasoningFamily.allNames())
        .contains(
            "basic",
            "qwen3",
            "nemotron_deci",
            "glm45",
            "deepseek_v4",
            "deepseek-v4",
            "deepseekv4",
            "deepseek_r1",
            "deepseek_v3",
            "deepseek_v3_1",
            "deepseek_v3_2",
            "step3",
            "nemotron_nano",
            "nemotron3",
            "nemotron_v3",
            "kimi_k25",
            "minimax_m2",
            "kimi",
            "mistral",
            "minimax_m3",
            "minimax-m3",
            "kimi_k3",
            "kimi-k3",
            "gemma4",
            "gemma-4",
            "gpt_oss",
            "granite",
            "minimax_append_think");
  }
}
