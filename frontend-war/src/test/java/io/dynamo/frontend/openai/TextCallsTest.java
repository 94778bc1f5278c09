package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.ws.rs.container.AsyncResponse;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
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
}
