package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.ws.rs.container.AsyncResponse;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class ChatCompletionsResourceTest {
  private static AsyncResponse response(boolean waiting) {
    return (AsyncResponse)
        Proxy.newProxyInstance(
            AsyncResponse.class.getClassLoader(),
            new Class<?>[] {AsyncResponse.class},
            (_, method, _) -> method.getName().equals("resume") ? waiting : null);
  }

  @Test
  void anAnswerThatTheContainerDoesNotTakeIsABrokenConnection() {
    assertThatThrownBy(() -> ChatCompletionsResource.resume(response(false), "x"))
        .isInstanceOf(UncheckedIOException.class);
    assertThatCode(() -> ChatCompletionsResource.resume(response(true), "x"))
        .doesNotThrowAnyException();
  }
}
