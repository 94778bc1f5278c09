package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.error.CancelledException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The prefill of a client's next turn. */
final class FollowUpPrefillTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWorkerReadsTheConversationWithItsAnswer(boolean stream) {
    frontend.scripts = List.of(says("yes"), says("!"));

    assertThat(post(stream, "")).contains("\"").doesNotContain("!");

    assertThat(frontend.allAsked).hasSize(2);
    var first = frontend.allAsked.getFirst();
    var next = frontend.allAsked.getLast();
    assertThat(frontend.encoded)
        .isEqualTo("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyes<|im_end|>\n");
    assertThat(next.stop().maxTokens()).isEqualTo(1);
    assertThat(next.stop().stop()).isEmpty();
    assertThat(next.routing()).isEqualTo(first.routing());
    assertThat(frontend.contexts.getLast().id())
        .isEqualTo(frontend.contexts.getFirst().id() + "-next");
  }

  @Test
  void callsAreInTheConversation() {
    frontend.runtimeConfig = Map.of("tool_call_parser", "hermes");
    frontend.scripts =
        List.of(
            says("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}\n</tool_call>"),
            says("!"));
    post(
        true,
        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\"}}}]");
    assertThat(frontend.allAsked).hasSize(2);
    var prompt = Objects.requireNonNull(frontend.prompt);
    assertThat(prompt.messages()).hasSize(2);
    assertThat(prompt.messages().getLast()).containsEntry("role", "assistant");
    assertThat(prompt.messages().getLast().get("tool_calls"))
        .asString()
        .contains("name=f")
        .contains("a")
        .contains("b");
  }

  @Test
  void otherRequestsHaveNone() {
    frontend.scripts = List.of(says("yes"));
    post("false", true, "");
    assertThat(frontend.allAsked).hasSize(1);
    post(true, ",\"n\":2");
    assertThat(frontend.allAsked).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFailedAnswerHasNone(boolean stream) {
    frontend.scripts = List.of(List.of());
    frontend.failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "it broke", null);
    post(stream, "");
    assertThat(frontend.allAsked).hasSize(1);
  }

  @Test
  void aClientThatLeavesHasNone() {
    frontend.scripts = List.of(says("yes"));
    var answer = new FrontendFixture.Recorded();
    answer.wire =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException("the client left");
          }
        };
    frontend.post(body("true", true, "").getBytes(StandardCharsets.UTF_8), Map.of(), answer);
    assertThat(frontend.allAsked).hasSize(1);
    assertThat(frontend.bodies.heldBytes()).isZero();
  }

  @Test
  void noneBeginsAfterTheShutdown() {
    frontend.scripts = List.of(says("yes"));
    var answer = new FrontendFixture.Recorded();
    answer.afterBody =
        () -> frontend.completions.abortAll(new CancelledException("the server stops"));
    frontend.post(body("true", true, "").getBytes(StandardCharsets.UTF_8), Map.of(), answer);
    assertThat(frontend.allAsked).hasSize(1);
  }

  private String post(boolean stream, String more) {
    return post("true", stream, more);
  }

  private String post(String wanted, boolean stream, String more) {
    return frontend.post(body(wanted, stream, more)).text();
  }

  private static String body(String wanted, boolean stream, String more) {
    return """
    {"model":"script","messages":[{"role":"user","content":"hi"}],"stream":%s,"stop":["zz"],
     "nvext":{"agent_hints":{"speculative_prefill":%s}}%s}\
    """
        .formatted(stream, wanted, more);
  }

  private static List<EngineOutput> says(String text) {
    return List.of(
        new EngineOutput(text.codePoints().toArray(), null, FinishReason.STOP, null, 0, null));
  }
}
