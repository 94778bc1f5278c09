package io.dynamo.worker.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandWordsTest {
  @Test
  void wordsAreThoseOfAShell() {
    assertThat(CommandWords.of(" vllm  serve /models/qwen --port\t8100 "))
        .containsExactly("vllm", "serve", "/models/qwen", "--port", "8100");
    assertThat(CommandWords.of("a 'b c' \"d 'e'\" f\\ g '' h'i'\"j\""))
        .containsExactly("a", "b c", "d 'e'", "f g", "", "hij");
    assertThat(CommandWords.of("--config '{\"a\":\"tcp://*:1\"}' \"\\\"\\n\\\\\" '\\x' $HOME *"))
        .containsExactly("--config", "{\"a\":\"tcp://*:1\"}", "\"\\n\\", "\\x", "$HOME", "*");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "a 'b", "a \"b", "a \"b\\\""})
  void commandsWithoutWordsOrWithOpenQuotesAreRefused(String command) {
    assertThatThrownBy(() -> CommandWords.of(command)).isInstanceOf(IllegalArgumentException.class);
  }
}
