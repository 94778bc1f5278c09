package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchLines.Line;
import io.dynamo.frontend.batches.BatchLines.Outcome;
import io.dynamo.frontend.batches.MalformedLineException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
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
    return calls.start(line, CHAT, "").outcome().get(30, TimeUnit.SECONDS);
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

    assertThatThrownBy(() -> calls.start(line, CHAT, ""))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(503));
  }

  @Test
  void tenantIsThatOfTheBatch() throws Exception {
    says("Hello");
    var line = calls.read(line("one", BODY), CHAT);
    calls.start(line, CHAT, "acme").outcome().get(30, TimeUnit.SECONDS);

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
  void expiredLinesAreNamed() {
    assertThat(text(calls.expired(new Line("a", new byte[0]))))
        .contains("\"custom_id\":\"a\"", "\"batch_expired\"", "\"response\":null");
  }
}
