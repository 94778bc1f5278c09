package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.config.frontend.ModelBounds;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchLines.Line;
import io.dynamo.frontend.batches.BatchLines.Outcome;
import io.dynamo.frontend.batches.MalformedLineException;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines of batches before the machinery that serves all requests. */
class BatchLineCallsTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String BODY =
      "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

  private final FrontendFixture frontend = new FrontendFixture();
  private final BatchLineCalls calls = new BatchLineCalls(frontend.completions, frontend.admission);

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private static byte[] line(String id, String body) {
    return "{\"custom_id\":\"%s\",\"method\":\"POST\",\"url\":\"%s\",\"body\":%s}"
        .formatted(id, CHAT, body)
        .getBytes(StandardCharsets.UTF_8);
  }

  private Outcome serve(String body) throws Exception {
    var line = calls.read(line("one", body), CHAT);
    try (var memory = calls.memory()) {
      return calls.start(line, CHAT, "", memory).outcome().get(30, TimeUnit.SECONDS);
    }
  }

  private void says(String text) {
    frontend.items = List.of(new EngineOutput(new int[1], text, FinishReason.EOS, null, 0, null));
  }

  @Test
  void lineIsAnsweredAsTheSameRequestOfAClient() throws Exception {
    says("Hello");
    var direct = frontend.post(BODY);
    var outcome = serve(BODY);

    assertThat(outcome.status()).isEqualTo(200);
    assertThat(withoutId(new String(outcome.body(), StandardCharsets.UTF_8)))
        .isEqualTo(withoutId(direct.text()));
    assertThat(text(calls.result(calls.read(line("one", BODY), CHAT), outcome)))
        .contains("\"custom_id\":\"one\"", "\"status_code\":200", "Hello", "\"error\":null")
        .endsWith("}\n");
  }

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8);
  }

  private static String withoutId(String json) {
    return json.replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "ID");
  }

  @Test
  void errorsOfTheRequestAreOutcomes() throws Exception {
    assertThat(
            serve("{\"model\":\"none\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}")
                .status())
        .isEqualTo(404);
    assertThat(serve("{\"model\":\"script\",\"messages\":[]}").status()).isEqualTo(400);
    assertThat(serve("{\"model\":\"script\",\"messages\":[],\"nonsense\":1}").status())
        .isEqualTo(400);
  }

  @Test
  void aRefusedLineIsThrown() throws Exception {
    var line = calls.read(line("one", BODY), CHAT);
    frontend.admission.drain(Duration.ZERO);

    assertThatThrownBy(() -> calls.start(line, CHAT, "", calls.memory()))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(503));
  }

  @Test
  void tenantIsThatOfTheBatch() throws Exception {
    says("Hello");
    var line = calls.read(line("one", BODY), CHAT);
    calls.start(line, CHAT, "acme", calls.memory()).outcome().get(30, TimeUnit.SECONDS);

    assertThat(String.valueOf(frontend.asked)).contains("acme");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "no JSON | invalid_json_line",
        "[] | invalid_json_line",
        "{'custom_id':'a','custom_id':'b'} | invalid_json_line",
        "{'custom_id':'a','x':1} | unknown_field",
        "{'method':'POST'} | invalid_custom_id",
        "{'custom_id':7} | invalid_custom_id",
        "{'custom_id':'a','method':'GET'} | invalid_method",
        "{'custom_id':'a','method':'POST','url':'/v1/embeddings'} | mismatched_url",
        "{'custom_id':'a','method':'POST','url':'/v1/chat/completions'} | invalid_body",
        "{'custom_id':'a','method':'POST','url':'/v1/chat/completions','body':[]} | invalid_body",
        "{'custom_id':'a','method':'POST','url':'/v1/chat/completions','body':{'stream':true}} |"
            + " invalid_body",
      })
  void aMalformedLineIsRefusedWithItsFault(String text, String code) {
    assertThatThrownBy(
            () -> calls.read(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8), CHAT))
        .isInstanceOf(MalformedLineException.class)
        .extracting("code")
        .isEqualTo(code);
  }

  @Test
  void lineThatWouldTakeTooMuchMemoryIsRefusedBeforeItIsParsed() {
    var dense = "[" + "[],".repeat(20_000) + "[]]";

    assertThatThrownBy(() -> calls.read(dense.getBytes(StandardCharsets.UTF_8), CHAT))
        .isInstanceOf(ApiException.class);
    assertThat(frontend.bodies.heldBytes()).isZero();
  }

  @Test
  void errorsOfLinesAreNamed() {
    assertThat(text(calls.error("a", "batch_expired", "too \"late\"")))
        .contains("\"custom_id\":\"a\"", "\"batch_expired\"", "\"response\":null")
        .contains("\"message\":\"too \\\"late\\\"\"")
        .endsWith("}\n");
    assertThat(text(calls.error(null, "x", "y"))).contains("\"custom_id\":null");
  }

  @Test
  void answerOfMoreTokensThanARequestMayHaveIsCarriedAsItIs() {
    var body = "{\"data\":[" + "1,".repeat(1_100_000) + "1]}";
    var line = new Line("a", new byte[0]);

    var result = calls.result(line, outcome(200, body));

    assertThat(text(result))
        .startsWith("{\"id\":\"batch_req_")
        .endsWith(
            "\"custom_id\":\"a\",\"response\":{\"status_code\":200,\"request_id\":\"r\",\"body\":"
                + body
                + "},\"error\":null}\n");
  }

  @Test
  void answerWithLineEndsIsOneLine() {
    var line = new Line("a", new byte[0]);

    assertThat(text(calls.result(line, outcome(200, "{\r\n\"a\":\n1}")))).containsOnlyOnce("\n");
    assertThat(text(calls.result(line, outcome(200, "")))).contains("\"body\":null}");
  }

  private static Outcome outcome(int status, String body) {
    return new Outcome(status, "r", body.getBytes(StandardCharsets.UTF_8), false, null);
  }

  @Test
  void answerIsChargedUntilItsLineIsRecordedAndOneWithoutRoomIsARefusal() throws Exception {
    says("Hello");
    var line = calls.read(line("one", BODY), CHAT);
    try (var memory = calls.memory()) {
      says("x".repeat(2000));
      assertThat(calls.start(line, CHAT, "", memory).outcome().get(30, TimeUnit.SECONDS).status())
          .isEqualTo(200);
      assertThat(frontend.bodies.heldBytes()).isPositive();
    }
    assertThat(frontend.bodies.heldBytes()).isZero();

    try (var memory = calls.memory();
        var others = frontend.bodies.open()) {
      others.chargeComplete(64 * 4096 - 16 * 1024); // room for the request, not for its answer
      says("x".repeat(6000));
      var refused = calls.start(line, CHAT, "", memory).outcome().get(30, TimeUnit.SECONDS);
      assertThat(refused.isOverload()).isTrue();
      assertThat(refused.status()).isEqualTo(503);
    }
  }

  @Test
  void lineThatWasGivenUpIsNotChargedAnyMore() {
    var memory = calls.memory();
    memory.close();

    assertThatThrownBy(() -> memory.hold(100_000)).isInstanceOf(ApiException.class);
    assertThat(frontend.bodies.heldBytes()).isZero();
  }

  @Test
  void refusalUnderAConfiguredStatusIsKnownAsOne() throws Exception {
    var bounds = new FrontendAdmission(ModelBounds.STANDARD, Map.of(), 418);
    try (var bounded =
        new FrontendFixture(
            Duration.ofSeconds(30), FakeHangUps.unwatched(), 4096, bounds, Runnable::run)) {
      bounded.allBusy = true;
      var lines = new BatchLineCalls(bounded.completions, bounded.admission);
      var line = lines.read(line("one", BODY), CHAT);
      try (var memory = lines.memory()) {
        var refused = lines.start(line, CHAT, "", memory).outcome().get(30, TimeUnit.SECONDS);

        assertThat(refused.status()).isEqualTo(418);
        assertThat(refused.isOverload()).isTrue();
      }
    }
  }
}
