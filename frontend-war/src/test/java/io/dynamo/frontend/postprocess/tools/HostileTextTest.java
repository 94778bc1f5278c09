package io.dynamo.frontend.postprocess.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.postprocess.message.JoinedMessage;
import io.dynamo.frontend.postprocess.message.MessageParser;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parsers survive texts with markers, brackets and quotes in any order. */
final class HostileTextTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> SCRAPS =
      List.of(
          "{",
          "}",
          "[",
          "]",
          "\"",
          ":",
          ",",
          "(",
          ")",
          "=",
          "\\",
          "\n",
          " ",
          "<",
          "a",
          "1",
          "-",
          "'",
          ";",
          "```",
          "name",
          "call:",
          "to=functions.f ",
          "{}",
          "\\u00",
          "😀",
          "true",
          "{\"name\": \"f\", \"arguments\": {",
          "\"arguments\"",
          "\"x\": ",
          "{\"a\": 1}",
          "<function=f>",
          "</function>",
          "<parameter=a>",
          "</parameter>",
          "<arg_key>a</arg_key>",
          "<arg_value>",
          "</arg_value>",
          "function<｜tool▁sep｜>f\n```json\n",
          "<|open|>argument key=\"a\" type=\"string\"<|sep|>",
          "<|close|>argument<|sep|>",
          "<invoke name=\"f\">",
          "</invoke>",
          "<parameter name=\"a\">",
          "[f(a=");

  @ParameterizedTest
  @EnumSource(ToolFamily.class)
  void theMessageDoesNotDependOnHowTheTextIsCut(ToolFamily family) throws IOException {
    for (long seed = 1; seed <= 500; seed++) {
      var random = new Random(seed);
      var text = text(family, random);
      var whole = JoinedMessage.of(family.parser(ToolSchemas.NONE), List.of(text));
      for (int way = 0; way < 4; way++) {
        assertThat(JoinedMessage.of(family.parser(ToolSchemas.NONE), cut(text, way, random)))
            .as("seed %d: %s", seed, text)
            .isEqualTo(whole);
      }
      for (var call : whole.calls()) {
        assertThat(call.name()).isNotEmpty();
        assertThat(JSON.readTree(call.arguments()).isObject())
            .as("seed %d: %s gives %s", seed, text, call)
            .isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(ToolFamily.class)
  void anEndlessCallCostsNoMoreThanItsLength(ToolFamily family) {
    var opener = family.markers().getFirst();
    Assertions.assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () -> {
          for (var filler : List.of("[", "{\"a\":", "x", "<", "\"", " ", "[f(a=")) {
            var parts = new ArrayList<String>();
            parts.add(opener + "[{\"name\": \"f\", \"arguments\": {\"a\": \"");
            for (int i = 0; i < 5_000; i++) {
              parts.add(filler);
            }
            JoinedMessage.of(family.parser(ToolSchemas.NONE), parts);
          }
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<tool_call><function=f>",
        "<tool_call><function=f><parameter=a>1</parameter>",
        "<tool_call>\n<function=f></function>"
      })
  void endlessSpaceIsReadOnce(String opening) {
    skipsSpace(() -> new TaggedCalls(TaggedFormat.QWEN3_CODER, ToolSchemas.NONE), opening);
  }

  @Test
  void endlessSpaceBeforeAForcedOrHeadedCallIsReadOnce() {
    skipsSpace(() -> ToolFamily.required(ToolFamily.none()), "");
    skipsSpace(() -> ToolFamily.HERMES.parser(ToolSchemas.NONE), "<tool_call>{\"name\":\"f\"}");
    skipsSpace(
        () -> new HeadedCalls(HeadedFormat.KIMI_K2),
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>```json {} ```");
  }

  @Test
  void endlessSpaceWhereAHeaderMayBeIsReadOnce() {
    skipsSpace(() -> RoutedMessages.inkling(true, true), "");
    skipsSpace(() -> RoutedMessages.muse(true, true, ToolSchemas.NONE), "");
    skipsSpace(() -> RoutedMessages.muse(true, true, ToolSchemas.NONE), " assistant to=user");
  }

  private static void skipsSpace(Supplier<MessageParser> parser, String opening) {
    var parts = new ArrayList<String>();
    parts.add(opening);
    parts.addAll(Collections.nCopies(200_000, " "));
    Assertions.assertTimeoutPreemptively(
        Duration.ofSeconds(3), () -> JoinedMessage.of(parser.get(), parts));
  }

  private static String text(ToolFamily family, Random random) {
    var text = new StringBuilder();
    int scraps = 1 + random.nextInt(16);
    for (int i = 0; i < scraps; i++) {
      var from = random.nextInt(3) == 0 ? family.markers() : SCRAPS;
      var scrap = from.get(random.nextInt(from.size()));
      text.append(random.nextInt(12) == 0 ? scrap.substring(scrap.length() / 2) : scrap);
    }
    return text.toString();
  }

  private static List<String> cut(String text, int way, Random random) {
    var parts = new ArrayList<String>();
    for (int at = 0; at < text.length(); ) {
      int end = Math.min(text.length(), at + (way == 0 ? 1 : 1 + random.nextInt(9)));
      parts.add(text.substring(at, end));
      at = end;
    }
    return parts;
  }
}
