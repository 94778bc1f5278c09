package io.dynamo.frontend.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WelcomeTest {
  @Test
  void theFirstRequestCanBeCopiedFromTheConsole() {
    var said = Welcome.text("http://127.0.0.1:8000", "tiny");
    assertThat(said)
        .contains("curl -N http://127.0.0.1:8000/v1/chat/completions")
        .contains("{\"model\":\"tiny\",\"stream\":true,")
        .contains("' \\\n    -d '");
  }
}
