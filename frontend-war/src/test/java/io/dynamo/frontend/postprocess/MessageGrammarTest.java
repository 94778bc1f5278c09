package io.dynamo.frontend.postprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.postprocess.tools.ToolChoice;
import io.dynamo.model.vocabulary.TokenTable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class MessageGrammarTest {
  private static final List<String> TOKENS = List.of("<tool_call>", "<think>", "<|im_end|>");
  private static final TokenTable VOCABULARY =
      new TokenTable() {
        @Override
        public int size() {
          return TOKENS.size();
        }

        @Override
        public byte[] bytes(int id) {
          return TOKENS.get(id).getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public boolean isSpecial(int id) {
          return true;
        }
      };

  private static List<Boolean> hidden(List<Map<String, Object>> tools, ToolChoice choice) {
    var grammar =
        MessageGrammar.of(Map.of("tool_call_parser", "hermes", "reasoning_parser", "qwen3"));
    var options = new MessageOptions(tools, choice, true, Map.of(), false);
    var table = grammar.withMarkers(VOCABULARY, options);
    return List.of(table.isSpecial(0), table.isSpecial(1), table.isSpecial(2));
  }

  @Test
  void onlyMarkersOfTheParsersAreText() {
    var tools = List.<Map<String, Object>>of(Map.of("function", Map.of("name", "f")));
    assertThat(hidden(tools, new ToolChoice.Auto())).containsExactly(false, false, true);
    assertThat(hidden(tools, new ToolChoice.None())).containsExactly(true, false, true);
    assertThat(hidden(List.of(), new ToolChoice.Auto())).containsExactly(true, false, true);
  }
}
