package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dynamo.discovery.EndpointId;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.NoWorkerException;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.admission.RequestAccount;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The events of both sides of a realtime session, and its ends. */
class RealtimeSessionTest extends RealtimeSessions {
  @Test
  void bothSidesAreHeard() throws Exception {
    connectAndChoose();
    worker.say(Map.of("type", "session.updated"));
    assertThat(event().path("type").asText()).isEqualTo("session.updated");
    send("{\"type\":\"response.create\",\"own\":[1,{\"a\":null}]}");
    assertThat(worker.heard.poll(60, TimeUnit.SECONDS).toString())
        .isEqualTo("{type=response.create, own=[1, {a=null}]}");
    worker.say(Map.of("type", "response.done", "x", 1));
    assertThat(event().toString()).contains("response.done");
    worker.end();

    assertThat(closed()).isEqualTo("1000 stream complete");
    client.close();
    assertThat(worker.closed.await(60, TimeUnit.SECONDS)).isTrue();
    awaitEnd();
    assertThat(counted("success")).isOne();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "{ | invalid_request | malformed JSON frame | null",
        "[] | invalid_request | malformed JSON frame | null",
        "{} | invalid_request | malformed JSON frame | null",
        "{\"type\":\"session.update\"} | invalid_request | malformed JSON frame | null",
        "{\"type\":\"response.create\"} | invalid_request | expected session.update before engine"
            + " is selected | session.update",
        "{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\"}} | invalid_request |"
            + " session.model required | session.model",
        "{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\",\"model\":\"\"}} |"
            + " invalid_request | session.model required | session.model",
        "{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\",\"model\":\"nobody\"}} |"
            + " model_not_found | unknown model: nobody | session.model",
      })
  void untilAModelIsChosenProblemsAreToldAndTheSessionGoesOn(
      String sent, String code, String message, String param) throws Exception {
    connect("");
    send(sent);

    var event = event();

    assertThat(event.path("type").asText()).isEqualTo("error");
    assertThat(event.at("/error/type").asText()).isEqualTo("invalid_request_error");
    assertThat(event.at("/error/code").asText()).isEqualTo(code);
    assertThat(event.at("/error/message").asText()).isEqualTo(message);
    assertThat(event.at("/error/param").asText()).isEqualTo(param);
    frame(0x82, new byte[3]);
    assertThat(event().at("/error/message").asText()).isEqualTo("binary frames not supported");
    send(UPDATE);
    assertThat(worker.heard.poll(60, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void theModelMayBeInTheAddressOrOfTheTranscription() throws Exception {
    connect("script");
    send("{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\"}}");
    assertThat(worker.heard.poll(60, TimeUnit.SECONDS)).isNotNull();
    client.close();
    connect("");
    send(
        "{\"type\":\"session.update\",\"session\":{\"type\":\"transcription\",\"audio\":{\"input\":{\"transcription\":{\"model\":\"script\"}}}}}");
    assertThat(worker.heard.poll(60, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void aModelWithoutWorkersIsUnavailable() throws Exception {
    frontend.ready = false;
    connect("");
    send(UPDATE);

    assertThat(event().at("/error/code").asText()).isEqualTo("model_unavailable");
  }

  @Test
  void brokenMessagesEndASessionWhoseModelIsChosen() throws Exception {
    connectAndChoose();
    send("{");

    assertThat(closed()).isEqualTo("1007 malformed JSON frame");
    assertThat(worker.heard.poll(60, TimeUnit.SECONDS)).isEqualTo("end");
  }

  @Test
  void binaryMessagesEndASessionWhoseModelIsChosen() throws Exception {
    connectAndChoose();
    frame(0x82, new byte[3]);

    assertThat(closed()).isEqualTo("1003 binary frames not supported");
  }

  @Test
  void aDeeplyNestedMessageIsRefused() throws Exception {
    connectAndChoose();
    send("{\"type\":\"x\",\"a\":" + "[".repeat(200) + "]".repeat(200) + "}");

    assertThat(closed()).isEqualTo("1007 malformed JSON frame");
  }

  @Test
  void aMessageThatMemoryHasNoRoomForEndsItsSessionOnly() throws Exception {
    connectAndChoose();
    send("{\"type\":\"x\",\"a\":[" + "{},".repeat(20_000) + "{}]}"); // 64 × 4096 bytes are there

    assertThat(closed()).startsWith("1013 ");
  }

  @Test
  void theWorkerMayAnswerForAWhileAfterTheClientsClose() throws Exception {
    worker.endsWhenStopped = false;
    connectAndChoose();
    frame(0x88, new byte[] {0x03, (byte) 0xE8, 'b', 'y', 'e'});

    assertThat(closed()).isEqualTo("1000 bye");
    assertThat(worker.heard.poll(60, TimeUnit.SECONDS)).isEqualTo("end");
    worker.say(Map.of("type", "late"));
    worker.end();
    assertThat(worker.closed.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void theWorkerOfAClientThatIsGoneIsCancelled() throws Exception {
    connectAndChoose();
    client.close();

    assertThat(worker.closed.await(60, TimeUnit.SECONDS)).isTrue();
    awaitEnd();
    assertThat(frontend.metrics.counter(FrontendMetrics.CANCELLATIONS).value()).isNotNegative();
  }

  @Test
  void aWorkerThatFailsIsReported() throws Exception {
    connectAndChoose();
    worker.fail(new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "secret", null));

    var event = event();
    assertThat(event.at("/error/type").asText()).isEqualTo("server_error");
    assertThat(event.at("/error/message").asText()).isEqualTo("Internal server error");
    assertThat(closed()).isEqualTo("1011 Internal server error");
    client.close();
    awaitEnd();
    assertThat(counted("error")).isOne();
  }

  @Test
  void anItemThatIsNoEventIsAFailureOfTheWorker() throws Exception {
    connectAndChoose();
    worker.say(Map.of("x", 1));

    assertThat(event().at("/error/type").asText()).isEqualTo("server_error");
    assertThat(closed()).startsWith("1011");
  }

  @Test
  void withoutAWorkerTheSessionEndsForNow() throws Exception {
    worker.refusal = new NoWorkerException(new EndpointId("a", "b", "c"), 0, 0);
    connect("");
    send(UPDATE);

    assertThat(event().path("type").asText()).isEqualTo("error");
    assertThat(closed()).startsWith("1013");
  }

  @Test
  void sessionsEndWithTheServer() throws Exception {
    connectAndChoose();

    service.abortAll();

    assertThat(closed()).isEqualTo("1001 the server is shutting down");
  }

  @Test
  void aWorkerThatDoesNotReadHoldsItsClientBack() throws Exception {
    worker.reads = false;
    connect("");
    send(UPDATE);
    var piece = "x".repeat(100);
    for (int i = 0; i < 200; i++) {
      send("{\"type\":\"input_audio_buffer.append\",\"audio\":\"" + piece + "\"}");
    }
    worker.end();

    assertThat(closed()).isEqualTo("1000 stream complete");
  }

  @Test
  void aFullServerRefusesBeforeTheHandshake() throws Exception {
    var places = new ArrayList<RequestAccount>();
    for (int i = 0; i < 64; i++) {
      places.add(frontend.admission.admit("test"));
    }

    var refusal = catchThrowableOfType(ApiException.class, () -> connect(""));

    assertThat(refusal.error().status()).isEqualTo(503);
    places.forEach(place -> place.end(null));
  }
}
