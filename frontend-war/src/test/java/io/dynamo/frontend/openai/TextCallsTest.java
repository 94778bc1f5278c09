package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.ws.rs.container.AsyncResponse;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class TextCallsTest {
  private static AsyncResponse response(boolean waiting) {
    return (AsyncResponse)
        Proxy.newProxyInstance(
            AsyncResponse.class.getClassLoader(),
            new Class<?>[] {AsyncResponse.class},
            (_, method, _) -> method.getName().equals("resume") ? waiting : null);
  }

  @Test
  void anAnswerThatTheContainerDoesNotTakeIsABrokenConnection() {
    assertThatThrownBy(() -> TextCalls.resume(response(false), "x"))
        .isInstanceOf(UncheckedIOException.class);
    assertThatCode(() -> TextCalls.resume(response(true), "x")).doesNotThrowAnyException();
  }

  @Test
  void aClientThatAProxyDoesNotNameIsServed() {
    assertThat(TextCalls.end("unknown", 0).getAddress().isAnyLocalAddress()).isTrue();
    assertThat(TextCalls.end("::1", 80))
        .isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("::1"), 80));
  }
}
