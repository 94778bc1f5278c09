package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.Published;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** KServe's protobuf messages before the machinery that serves all requests. */
class KserveCallsTest {
  private static final String TEXT =
      "inputs { name: 'text_input' datatype: 'BYTES' shape: 1 contents { bytes_contents: 'Hi' } }";
  private static final String STREAMING =
      "inputs { name: 'streaming' datatype: 'BOOL' shape: 1 contents { bool_contents: true } }";

  private final FrontendFixture frontend = new FrontendFixture();
  private final KserveCalls calls =
      new KserveCalls(frontend.completions, new ModelDirectory(frontend));

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private static InferCalls.Caller caller(Map<String, String> headers) {
    return new InferCalls.Caller(
        headers,
        IncomingRequest.NO_CONNECTION,
        IncomingRequest.NO_CONNECTION,
        Duration.ofSeconds(20));
  }

  private DecodedAnswer ask(String request, boolean streamed) {
    return ask(request, streamed, Map.of());
  }

  private DecodedAnswer ask(String request, boolean streamed, Map<String, String> headers) {
    var answer = new DecodedAnswer(streamed);
    var message = Published.encode("ModelInferRequest", "model_name: 'script' " + request);
    var _ = calls.start(message, () -> {}, caller(headers), streamed, answer);
    return answer;
  }

  private static ApiError refusal(DecodedAnswer answer) {
    return Objects.requireNonNull(answer.error, "the request is answered");
  }

  private void says(String... texts) {
    var items = new ArrayList<EngineOutput>();
    for (int i = 0; i < texts.length; i++) {
      items.add(
          new EngineOutput(
              new int[] {i},
              texts[i],
              i == texts.length - 1 ? FinishReason.LENGTH : null,
              null,
              0,
              null));
    }
    frontend.items = items;
  }

  private static String response(String id, String text, String finish) {
    return ("model_name: \"script\" model_version: \"1\"%s outputs { name: \"text_output\""
            + " datatype: \"BYTES\" shape: 1 contents { bytes_contents: \"%s\" } } outputs {"
            + " name: \"finish_reason\" datatype: \"BYTES\" shape: 1 contents { bytes_contents:"
            + " \"%s\" } }")
        .formatted(id.isEmpty() ? "" : " id: \"" + id + "\"", text, finish);
  }

  @Test
  void aTextIsAnsweredWhole() {
    says("Hel", "lo");

    var answer = ask("id: 'abc' " + TEXT, false);

    assertThat(answer.messages).containsExactly(response("abc", "Hello", "length"));
    assertThat(answer.done).isTrue();
    assertThat(frontend.encoded).isEqualTo("Hi");
  }

  @Test
  void aStreamHasAMessageForEachPart() {
    says("Hel", "lo");

    var answer = ask("id: 'abc' " + TEXT + STREAMING, true);

    assertThat(answer.messages)
        .containsExactly(
            "infer_response { " + response("abc", "Hel", "") + " }",
            "infer_response { " + response("abc", "lo", "length") + " }");
    assertThat(answer.done).isTrue();
  }

  @Test
  void aCallOfStreamsAnswersWholeWhenNoStreamIsAskedFor() {
    says("Hel", "lo");

    assertThat(ask(TEXT, true).messages)
        .containsExactly("infer_response { " + response("", "Hello", "length") + " }");
  }

  @Test
  void theLastMessageIsMarkedForTritonsClients() {
    says("Hi");

    var answer =
        ask(
            TEXT
                + STREAMING
                + "parameters { key: 'triton_enable_empty_final_response' value { bool_param: true"
                + " } }",
            true);

    assertThat(answer.messages).hasSize(2);
    assertThat(answer.messages.getLast())
        .contains("triton_final_response", "bool_param: true")
        .doesNotContain("outputs");
  }

  @Test
  void parametersAreThoseOfCompletions() {
    says("a");

    var answer =
        ask(
            TEXT
                + "parameters { key: 'max_tokens' value { int64_param: 7 } }"
                + "parameters { key: 'temperature' value { double_param: 0.5 } }"
                + "parameters { key: 'seed' value { uint64_param: 3 } }"
                + "parameters { key: 'stop' value { string_param: 'END' } }"
                + "parameters { key: 'n' value { int64_param: 2 } }",
            false);

    assertThat(answer.error).isNull();
    assertThat(answer.messages.getFirst()).contains("shape: 2", "bytes_contents: \"a\"");
    var asked = frontend.allAsked.getFirst();
    assertThat(asked.stop().maxTokens()).isEqualTo(7);
    assertThat(asked.sampling().temperature()).isEqualTo(0.5f);
    assertThat(asked.sampling().seed()).isEqualTo(3);
    assertThat(frontend.allAsked).hasSize(2);
  }

  @Test
  void wantedOutputsAreGivenAlone() {
    says("a");

    assertThat(ask(TEXT + "outputs { name: 'finish_reason' }", false).messages.getFirst())
        .contains("finish_reason")
        .doesNotContain("text_output");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "inputs { name: 'foo' datatype: 'BYTES' shape: 1 } | Invalid input name: foo",
        "id: 'x' | Missing required input: 'text_input'",
        "inputs { name: 'text_input' datatype: 'FP32' shape: 1 } | to be of type BYTES",
        "inputs { name: 'text_input' datatype: 'BYTES' shape: 2 } | to have shape [1], got [2]",
        "inputs { name: 'text_input' datatype: 'BYTES' shape: 1 } | Missing raw input",
        "inputs { name: 'text_input' datatype: 'BYTES' shape: 1 contents { } } | exactly one"
            + " element",
        "inputs { name: 'text_input' datatype: 'BYTES' shape: 1 contents { bytes_contents: '' } } |"
            + " is empty",
      })
  void inputsThatAreNoTextAreRefused(String request, String words) {
    var error = refusal(ask(request, false));

    assertThat(error.status()).isEqualTo(400);
    assertThat(error.message()).contains(words);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "inputs { name: 'stream' datatype: 'BYTES' shape: 1 } | 'stream' to be of type BOOL",
        "inputs { name: 'stream' datatype: 'BOOL' shape: [1,1] } | 'stream' to have shape [1]",
        "inputs { name: 'stream' datatype: 'BOOL' shape: 1 contents { bool_contents: true } } |"
            + " Streaming is not supported",
        "outputs { name: 'zz' } | there is no output 'zz'",
        "parameters { key: 'zz' value { bool_param: true } } | the parameter `zz` is not known",
        "parameters { key: 'prompt' value { bool_param: true } } | is set by the request itself",
        "parameters { key: 'max_tokens' value { string_param: 'x' } } | max_tokens",
        "parameters { key: 'temperature' value { int64_param: 9 } } | emperature",
      })
  void theRestOfARequestIsChecked(String rest, String words) {
    var error = refusal(ask(TEXT + rest, false));

    assertThat(error.status()).isEqualTo(400);
    assertThat(error.message()).contains(words);
  }

  @Test
  void severalTextsAreNotStreamed() {
    var error =
        refusal(ask(TEXT + STREAMING + "parameters { key: 'n' value { int64_param: 2 } }", true));

    assertThat(error.message()).contains("n is 2");
  }

  @Test
  void unknownModelsAndVersionsAreNotFound() {
    var nobody = new DecodedAnswer(false);
    var _ =
        calls.start(
            Published.encode("ModelInferRequest", "model_name: 'nobody' " + TEXT),
            () -> {},
            caller(Map.of()),
            false,
            nobody);
    assertThat(refusal(nobody).status()).isEqualTo(404);

    var version = refusal(ask("model_version: '7' " + TEXT, false));
    assertThat(version.status()).isEqualTo(404);
    assertThat(version.message()).contains("no version '7'");
  }

  @Test
  void modelsWithoutCompletionsAreNotServed() {
    frontend.modelTypes = Set.of("Chat");

    var error = refusal(ask(TEXT, false));
    assertThat(error.status()).isEqualTo(404);
  }

  @Test
  void theIdOfARequestIsItsNameEverywhereWhenItIsAUuid() {
    says("a");
    var id = "9f0c1f4e-7c1f-4f50-9f1c-0123456789ab";

    ask("id: '" + id + "' " + TEXT, false);
    assertThat(frontend.contexts.getFirst().id()).isEqualTo(id);

    ask("id: 'no uuid' " + TEXT, false);
    assertThat(frontend.contexts.getLast().id()).isNotEqualTo("no uuid");
  }

  @Test
  void metadataOfTheCallReachWorkers() {
    says("a");

    ask(TEXT, false, Map.of("x-dynamo-meta-tier", "gold"));

    assertThat(frontend.contexts.getFirst().metadata()).isEqualTo(Map.of("tier", "gold"));
  }

  @Test
  void callersPatienceIsTheDeadline() {
    says("a");

    ask(TEXT, false);

    assertThat(frontend.contexts.getFirst().deadline().remainingNanos())
        .isLessThan(Duration.ofSeconds(21).toNanos());
  }

  @Test
  void aFailureInAStreamIsItsLastMessage() {
    frontend.items = List.of(new EngineOutput(new int[1], "a", null, null, 0, null));
    frontend.failure =
        new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "a secret of the worker", null);

    var answer = ask(TEXT + STREAMING, true);

    assertThat(answer.messages).hasSize(2);
    assertThat(answer.messages.getLast()).startsWith("error_message:").doesNotContain("secret");
    assertThat(answer.done).isTrue();
  }

  @Test
  void aClientThatIsGoneCancelsItsText() {
    frontend.items = List.of(new EngineOutput(new int[1], "a", null, null, 0, null));
    frontend.endless = true;
    var answer = new DecodedAnswer(true);
    answer.taken = 0;

    var _ =
        calls.start(
            Published.encode("ModelInferRequest", "model_name: 'script' " + TEXT + STREAMING),
            () -> {},
            caller(Map.of()),
            true,
            answer);

    assertThat(frontend.workerCancelled).isTrue();
    assertThat(answer.done).isFalse();
  }

  @Test
  void requestsAreRefusedWhenNoneIsLetIn() throws Exception {
    frontend.admission.drain(Duration.ZERO);

    assertThatThrownBy(() -> ask(TEXT, false))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(503));
  }

  @Test
  void messagesAreLetGoBeforeTheyAreAnswered() {
    says("Hello");
    var read = new AtomicInteger();
    var readAtFirst = new AtomicInteger();
    var answer =
        new DecodedAnswer(false) {
          @Override
          public void message(byte[] message) {
            readAtFirst.set(read.get());
          }
        };
    var message = Published.encode("ModelInferRequest", "model_name: 'script' " + TEXT);
    var _ = calls.start(message, read::incrementAndGet, caller(Map.of()), false, answer);

    assertThat(answer.done).isTrue();
    assertThat(readAtFirst).hasValue(1);
    assertThat(read).hasValue(1);
  }

  @Test
  void bytesThatAreNoMessageAreRefused() {
    assertThatThrownBy(
            () ->
                calls.start(
                    new byte[] {10, 50},
                    () -> {},
                    caller(Map.of()),
                    false,
                    new DecodedAnswer(false)))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(400));
  }
}
