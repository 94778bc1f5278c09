package io.dynamo.frontend.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.FakeExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CapturedAnswerTest {
  private final FakeExchange exchange = new FakeExchange("GET", "/metrics");
  private final CapturedAnswer answer = new CapturedAnswer(exchange.response(), 10);

  @Test
  void writtenTextIsCapturedInItsEncoding() throws IOException {
    answer.setContentType("text/plain");
    answer.setCharacterEncoding("ISO-8859-1");
    answer.getWriter().write("é");
    assertThat(answer.take()).isEqualTo("é".getBytes(StandardCharsets.ISO_8859_1));
    assertThat(answer.getContentType()).isEqualTo("text/plain;charset=ISO-8859-1");
    assertThat(exchange.text()).isEmpty();
  }

  @Test
  void statusAndFewHeadersOfTheModuleCount() throws IOException {
    answer.sendError(503, "down");
    answer.setHeader("Allow", "GET");
    answer.setHeader("Content-Type", "application/json; charset=UTF-8");
    answer.addHeader("Connection", "close");
    answer.setIntHeader("Content-Length", 3);
    answer.getOutputStream().write("abc".getBytes(StandardCharsets.US_ASCII));
    answer.flushBuffer();
    assertThat(answer.getStatus()).isEqualTo(503);
    assertThat(answer.getContentType()).isEqualTo("application/json; charset=UTF-8");
    assertThat(answer.getCharacterEncoding()).isEqualTo("UTF-8");
    assertThat(exchange.headers()).containsExactly(Map.entry("Allow", "GET"));
    assertThat(exchange.status()).isEqualTo(200);
    assertThat(answer.take()).hasSize(3);
  }

  @Test
  void aBodyBeyondTheLimitIsRefusedAndNotKept() throws IOException {
    var out = answer.getOutputStream();
    out.write(new byte[10]);
    assertThat(answer.take()).hasSize(10);
    out.write(1);
    out.write(new byte[100]);
    assertThatThrownBy(answer::take).isInstanceOf(IOException.class).hasMessageContaining("10");
    answer.resetBuffer();
  }
}
