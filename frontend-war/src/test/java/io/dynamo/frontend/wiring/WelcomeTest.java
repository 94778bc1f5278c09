package io.dynamo.frontend.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class WelcomeTest {
  @Test
  void theFirstRequestCanBeCopiedFromTheConsole() {
    var said = Welcome.text("http://127.0.0.1:8000", null, "tiny");
    assertThat(said)
        .contains("curl -N http://127.0.0.1:8000/v1/chat/completions")
        .contains("{\"model\":\"tiny\",\"stream\":true,")
        .contains("' \\\n    -d '")
        .doesNotContain("Status server");
  }

  @Test
  void theStatusServerIsNamedWithItsPort() {
    assertThat(
            Welcome.text(
                "http://127.0.0.1:8000",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 9090),
                "tiny"))
        .contains("metrics http://127.0.0.1:8000/metrics")
        .contains("Status server http://127.0.0.1:9090: /health");
  }
}
