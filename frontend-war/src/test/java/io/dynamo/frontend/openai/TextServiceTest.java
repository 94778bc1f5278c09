package io.dynamo.frontend.openai;

import static io.dynamo.frontend.openai.Samples.hi;
import static io.dynamo.frontend.openai.Samples.said;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.Label;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextServiceTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private static List<JsonNode> chunks(String sse) throws IOException {
    var chunks = new ArrayList<JsonNode>();
    assertThat(sse).endsWith("data: [DONE]\n\n");
    for (var frame : sse.split("\n\n", -1)) {
      if (!frame.isEmpty() && !frame.equals("data: [DONE]") && !frame.equals(": ")) {
        assertThat(frame).startsWith("data: ").doesNotContain("\n");
        chunks.add(JSON.readTree(frame.substring("data: ".length())));
      }
    }
    return chunks;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13, 21}) // the seed names the failing run
  void foldingAStreamGivesTheUnaryAnswer(long seed) throws Exception {
    var random = new Random(seed);
    var items = new ArrayList<EngineOutput>();
    for (int i = random.nextInt(200); i > 0; i--) {
      var ids = random.ints(random.nextInt(4), 32, 0x2000).toArray();
      items.add(EngineOutput.ofTokens(ids));
    }
    items.add(EngineOutput.finish(FinishReason.LENGTH, null, 'z'));
    frontend.items = items;
    var stop = random.nextBoolean() ? ",\"stop\":[\"\\u0100\"]" : "";
    var unary = JSON.readTree(frontend.post(hi(stop)).text());
    var streamed =
        chunks(
            frontend
                .post(hi(stop + ",\"stream\":true,\"stream_options\":{\"include_usage\":true}"))
                .text());

    var text = new StringBuilder();
    String finish = null;
    for (var chunk : streamed) {
      for (var choice : chunk.get("choices")) {
        text.append(choice.path("delta").path("content").asText(""));
        finish = choice.get("finish_reason").textValue();
      }
    }
    var choice = unary.get("choices").get(0);
    assertThat(text).hasToString(choice.get("message").path("content").asText(""));
    assertThat(finish).isEqualTo(choice.get("finish_reason").textValue());
    assertThat(streamed.getLast().get("usage")).isEqualTo(unary.get("usage"));
  }

  @Test
  void aWholeAnswerThatFindsNoMemoryIsRefusedAndFreesWhatItHeld() {
    var items = new ArrayList<EngineOutput>();
    for (int i = 0; i < 2_000; i++) {
      items.add(said("0123456789"));
    }
    items.add(said("", FinishReason.EOS, 1));
    frontend.items = items;
    try (var others = frontend.bodies.open()) {
      others.chargeComplete(200_000);
      var refused = frontend.post(hi(""));
      assertThat(refused.status).isEqualTo(503);
      assertThat(refused.text()).contains("whole answers", "let the answer be streamed");
      assertThat(frontend.post(hi(",\"stream\":true")).status).isEqualTo(200);
    }
    assertThat(frontend.post(hi("")).status).isEqualTo(200);
    assertThat(frontend.bodies.heldBytes()).isZero();
  }

  @Test
  void aUnaryAnswerHasDynamosKeysInDynamosOrder() {
    frontend.items = List.of(said("Hi"), said("", FinishReason.EOS, 1));
    var answer =
        frontend.post(
            hi("").getBytes(StandardCharsets.UTF_8),
            Map.of("x-dynamo-request-id", "9776aa5a-8c43-4e7c-a4a3-94f1f5404761"));
    assertThat(answer.text())
        .isEqualTo(
            "{\"id\":\"chatcmpl-9776aa5a-8c43-4e7c-a4a3-94f1f5404761\",\"choices\":[{\"index\":0,"
                + "\"message\":{\"content\":\"Hi\",\"refusal\":null,\"role\":\"assistant\"},"
                + "\"finish_reason\":\"stop\",\"logprobs\":null}],\"created\":1795217895,"
                + "\"model\":\"script\",\"object\":\"chat.completion\",\"usage\":{"
                + "\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}}");
  }

  @Test
  void aFailureBeforeTheFirstItemKeepsItsStatus() {
    frontend.failure = new NoWorkerException("dynamo/script/generate", 0, 0);
    for (var more : List.of("", ",\"stream\":true")) {
      var answer = frontend.post(hi(more));
      assertThat(answer.status).isEqualTo(503);
      assertThat(answer.events).isFalse();
      assertThat(answer.text())
          .isEqualTo(
              "{\"error\":{\"message\":\"Service temporarily unavailable\","
                  + "\"type\":\"service_unavailable\",\"code\":null,\"param\":null},"
                  + "\"message\":\"Service temporarily unavailable\","
                  + "\"type\":\"Service Unavailable\",\"code\":503}");
    }
    frontend.failure = new InvalidRequestException("no such rank");
    assertThat(frontend.post(hi(",\"stream\":true")).error)
        .satisfies(error -> assertThat(error).hasFieldOrPropertyWithValue("status", 400))
        .satisfies(
            error -> assertThat(error).hasFieldOrPropertyWithValue("message", "no such rank"));
  }

  @Test
  void aFailureInMidStreamIsATypedFrameAndTheTerminator() {
    frontend.items = List.of(said("Hi"));
    frontend.failure =
        new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "secret of the engine", null);
    var answer = frontend.post(hi(",\"stream\":true"));
    assertThat(answer.status).isEqualTo(200);
    assertThat(answer.text())
        .contains("\"content\":\"Hi\"")
        .doesNotContain("secret")
        .endsWith(
            "data: {\"error\":{\"message\":\"Internal server error\","
                + "\"type\":\"internal_server_error\",\"code\":500}}\n\ndata: [DONE]\n\n");
    assertThat(frontend.post(hi("")).status).isEqualTo(500);
  }

  @Test
  void aStopStringFoundHereStopsTheWorker() throws Exception {
    frontend.items = "alpha STOP beta".codePoints().mapToObj(EngineOutput::ofTokens).toList();
    frontend.endless = true;
    var answer = JSON.readTree(frontend.post(hi(",\"stop\":\"STOP\"")).text());
    assertThat(answer.at("/choices/0/message/content").textValue()).isEqualTo("alpha ");
    assertThat(answer.at("/choices/0/finish_reason").textValue()).isEqualTo("stop");
    assertThat(frontend.workerCancelled).isTrue();
  }

  @Test
  void anUnknownModelIsNamedWithOpenAisCode() throws Exception {
    var answer = frontend.post(hi("").replace("script", "nope"));
    assertThat(answer.status).isEqualTo(404);
    var body = JSON.readTree(answer.text());
    assertThat(body.at("/error/code").textValue()).isEqualTo("model_not_found");
    assertThat(body.at("/error/message").textValue()).contains("nope");
    assertThat(body.get("code").intValue()).isEqualTo(404);
  }

  @Test
  void aKnownModelWithoutAWorkerIs503() {
    frontend.ready = false;
    var answer = frontend.post(hi(",\"temperature\":9"));
    assertThat(answer.status).isEqualTo(503);
    assertThat(answer.text()).contains("Model `script` is not ready to serve requests yet.");
  }

  @Test
  void aFaultOfOursIsAnsweredAndHidden() {
    frontend.templateFault = new IllegalStateException("a fault of ours");
    var answer = frontend.post(hi(""));
    assertThat(answer.status).isEqualTo(500);
    assertThat(answer.text()).doesNotContain("fault of ours");
  }

  @Test
  void aPromptThatFillsTheContextIsRefused() {
    frontend.promptTokens = 1000;
    var answer = frontend.post(hi(""));
    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text()).contains("context_length_exceeded");
  }

  private long counted(String type, String status, String errorType) {
    return frontend
        .metrics
        .counter(
            FrontendMetrics.REQUESTS,
            new Label("model", "script"),
            new Label("endpoint", "chat_completions"),
            new Label("request_type", type),
            new Label("status", status),
            new Label("error_type", errorType))
        .value();
  }

  @Test
  void anErrorOfTheMachineIsAnsweredToo() {
    frontend.workerError = new StackOverflowError();
    var answer = frontend.post(hi(""));
    assertThat(answer.status).isEqualTo(500);
    assertThat(counted("unary", "error", "internal")).isEqualTo(1);
  }

  @Test
  void aWatchThatFailsIsAnswered() {
    var failing =
        new FakeHangUps() {
          @Override
          public synchronized void wake() {
            throw new RejectedExecutionException("closed");
          }
        };
    try (var watcher = FakeHangUps.unwatched(failing);
        var broken = new FrontendFixture(Duration.ofSeconds(30), watcher)) {
      assertThat(broken.post(hi("")).status).isEqualTo(500);
      assertThat(broken.admission.admitted()).isZero();
    }
  }

  @Test
  void anInterruptedRequestIsAnsweredBeforeTheFlagIsBack() {
    var patient = new FrontendFixture(Duration.ofSeconds(30), FakeHangUps.unwatched(), 1 << 20);
    patient.interrupts = true;
    var flagWhileAnswering = new AtomicBoolean();
    var answer =
        new Recorded() {
          @Override
          public void error(ApiError failure) {
            flagWhileAnswering.set(Thread.currentThread().isInterrupted());
            super.error(failure);
            patient.renderEnds.countDown();
          }
        };
    var body = (hi("") + " ".repeat(20_000)).getBytes(StandardCharsets.UTF_8);
    patient.post(body, Map.of(), answer); // so long that another thread renders
    assertThat(Thread.interrupted()).isTrue();
    assertThat(flagWhileAnswering).isFalse();
    assertThat(answer.status).isEqualTo(503);
    patient.closeIdle();
  }

  @Test
  void textHeldBackForAStopStringIsDeliveredBeforeTheErrorFrame() throws Exception {
    frontend.items = "say STO".codePoints().mapToObj(EngineOutput::ofTokens).toList();
    frontend.failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);
    var sse = frontend.post(hi(",\"stream\":true,\"stop\":\"STOP\"")).text();
    var text = new StringBuilder();
    for (var chunk : chunks(sse)) {
      text.append(chunk.at("/choices/0/delta/content").asText(""));
    }
    assertThat(text).hasToString("say STO");
    assertThat(sse).contains("\"code\":500}}\n\ndata: [DONE]\n\n");
  }

  @Test
  void anAnswerThatCannotBeWrittenDownEndsInATypedFrameAndIsNoSuccess() {
    frontend.items = List.of(said("Hi"), EngineOutput.ofTokens(-5)); // no token of any vocabulary
    frontend.endless = true;
    var answer = frontend.post(hi(",\"stream\":true"));
    assertThat(answer.text())
        .contains("\"content\":\"Hi\"")
        .endsWith(
            "data: {\"error\":{\"message\":\"Internal server error\","
                + "\"type\":\"internal_server_error\",\"code\":500}}\n\ndata: [DONE]\n\n");
    assertThat(counted("stream", "error", "internal")).isEqualTo(1);
    assertThat(frontend.workerCancelled).isTrue();
  }

  @Test
  void aRequestThatIsPreparedDuringAbortAllReachesNoWorker() {
    frontend.endless = true;
    frontend.whileRendering =
        () ->
            frontend.completions.abortAll(
                new EngineFailedException(
                    ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the server is stopping", null));
    assertThat(frontend.post(hi("")).status).isEqualTo(503);
    assertThat(frontend.asked).isNull();
  }
}
