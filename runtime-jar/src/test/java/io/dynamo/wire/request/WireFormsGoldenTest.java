package io.dynamo.wire.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerLostException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Golden;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Control message, prologue, envelope and errors against the bytes of Dynamo 1.6.1. */
class WireFormsGoldenTest {
  @ParameterizedTest
  @ValueSource(strings = {"chat-stream", "frontend-json-codec", "with-metadata", "embeddings"})
  void aCapturedControlMessageIsWrittenAgainByteForByte(String name) {
    byte[] header = Golden.request(name).payload().header();
    var control = ControlMessage.ofJson(ByteBuffer.wrap(header));
    assertThat(control.toJson()).isEqualTo(header);
    assertThat(control.connection().context()).isEqualTo(control.id());
  }

  @Test
  void metadataOfAControlMessageIsRead() {
    var control =
        ControlMessage.ofJson(ByteBuffer.wrap(Golden.request("with-metadata").payload().header()));
    assertThat(control.metadata()).isEqualTo(Map.of("k", "v"));
  }

  @Test
  void anAnswerThatCannotGoOverTcpIsRefused() {
    var header = ByteBuffer.wrap(Golden.request("quic-response-plane").payload().header());
    assertThatThrownBy(() -> ControlMessage.ofJson(header))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("quic-response");
  }

  @Test
  void headersKeepTraceAndExternalId() {
    var headers = RequestHeaders.ofJson(Golden.request("traceparent").headers());
    assertThat(headers.more())
        .containsOnlyKeys("x-request-id", "traceparent")
        .containsEntry("x-request-id", "ext-req-7");
    assertThat(headers.sentUnixNanos()).isPositive();
    assertThat(RequestHeaders.ofJson("no json".getBytes(StandardCharsets.US_ASCII)))
        .isEqualTo(new RequestHeaders(Map.of(), 0));
  }

  @Test
  void headersAreWrittenInTheCapturedForm() {
    var captured = Golden.request("chat-stream");
    assertThat(
            RequestHeaders.toJson(
                "ccb713c5-1392-4150-a3a3-9546dc2b4b0f",
                "ec5ccfe8392a8f5e/dynamo/backend/generate",
                1795217575231167495L,
                Map.of()))
        .isEqualTo(captured.headers());
  }

  @Test
  void aCapturedPrologueErrorIsAnUntypedFailure() {
    byte[] header = Golden.frames("prologue-error.w2f.bin").get(1).header();
    assertThat(Prologue.ofJson(header).failure())
        .isInstanceOf(EngineFailedException.class)
        .hasMessage("live requests must generate at least one output token");
    assertThat(Prologue.ofJson(Golden.frames("chat-stream.w2f.bin").get(1).header()).failure())
        .isNull();
    assertThat(Prologue.accepted()).isEqualTo(Golden.frames("chat-stream.w2f.bin").get(1).header());
  }

  @Test
  void aPrologueErrorOfEarlierReleasesIsALostWorker() {
    var failure =
        Prologue.ofJson("{\"error\":\"no\"}".getBytes(StandardCharsets.US_ASCII)).failure();
    assertThat(failure)
        .isInstanceOf(WorkerLostException.class)
        .hasMessageContaining("Worker generate() failed before response stream: no");
  }

  @Test
  void aCapturedErrorItemIsWrittenAgainByteForByte() {
    for (var name : new String[] {"chat-error-unary.w2f.bin", "error-after-item.w2f.bin"}) {
      var bodies = Golden.bodies(name);
      byte[] body = bodies.get(bodies.size() - 2);
      var envelope = ResponseEnvelope.read(ByteBuffer.wrap(body), PayloadFormat.MSGPACK);
      var error = envelope.error();
      assertThat(error).isNotNull();
      if (error != null) {
        assertThat(ResponseEnvelope.ofError(error, PayloadFormat.MSGPACK)).isEqualTo(body);
        assertThat(error.toException()).isInstanceOf(InvalidRequestException.class);
      }
    }
  }

  @Test
  void onlyThePublicTextOfARefusalReachesTheClient() {
    assertThat(firstError("chat-error-unary.w2f.bin", 0))
        .hasMessage("`max_output_tokens` (or `max_tokens`) is required by the mocker worker");
    assertThat(firstError("error-after-item.w2f.bin", 1)).hasMessage("Invalid request");
  }

  @Test
  void anErrorOfCommentsAloneIsUnknown() {
    assertThat(firstError("annotated-items.w2f.bin", 1))
        .isInstanceOf(EngineFailedException.class)
        .hasMessage("plain error");
  }

  @Test
  void annotationsBesideAnItemDoNotHideIt() {
    byte[] body = Golden.bodies("annotated-items.w2f.bin").getFirst();
    var envelope = ResponseEnvelope.read(ByteBuffer.wrap(body), PayloadFormat.MSGPACK);
    assertThat(envelope.error()).isNull();
    var item = envelope.item();
    assertThat(item).isNotNull();
    if (item != null) {
      var bytes = new byte[item.remaining()];
      item.get(bytes);
      assertThat(bytes).isEqualTo(new byte[] {(byte) 0x81, (byte) 0xa1, 'a', 1});
    }
  }

  @ParameterizedTest
  @CsvSource({"python-bytes-nan-json.w2f.bin, JSON", "python-bytes-nan-msgpack.w2f.bin, MSGPACK"})
  void itemsOfOtherTypesAreFoundInTheirFrames(String name, PayloadFormat format) {
    byte[] body = Golden.bodies(name).getFirst();
    var item = ResponseEnvelope.read(ByteBuffer.wrap(body), format).item();
    assertThat(item).isNotNull();
    if (item != null) {
      int head = ResponseEnvelope.head(format).length;
      int tail = ResponseEnvelope.tail(format).length;
      assertThat(item.position()).isEqualTo(head);
      assertThat(item.limit()).isEqualTo(body.length - tail);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"errors-by-http-status.json", "errors-by-python-exception.json"})
  void everyCapturedErrorIsWrittenAgain(String name) throws Exception {
    var json = new ObjectMapper();
    JsonNode all = json.readTree(Golden.bytes("response-stream/" + name));
    assertThat(all.size()).isGreaterThan(20);
    for (var entry : all.properties()) {
      var bytes = json.writeValueAsBytes(entry.getValue());
      var error =
          WireReader.read("error", ByteBuffer.wrap(bytes), PayloadFormat.JSON, DynamoError::read);
      var again = WireWriter.write(error, PayloadFormat.JSON, (out, it) -> it.write(out));
      assertThat(json.readTree(again)).as(entry.getKey()).isEqualTo(entry.getValue());
      assertThat(error.toException()).as(entry.getKey()).isNotNull();
    }
  }

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void everyCodeSurvivesTheWire(ErrorCode code) {
    for (var format : PayloadFormat.values()) {
      var frame = ResponseEnvelope.ofError(DynamoError.of(code, "why", "what"), format);
      var error = ResponseEnvelope.read(ByteBuffer.wrap(frame), format).error();
      assertThat(error).isNotNull();
      if (error != null) {
        assertThat(error.code()).isEqualTo(code);
        var exception = error.toException();
        boolean kept = exception.code() == code;
        assertThat(kept).as("%s becomes %s", code, exception.code()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ErrorCode.class,
      names = {
        "CANNOT_CONNECT",
        "DISCONNECTED",
        "CONNECTION_TIMEOUT",
        "RESPONSE_TIMEOUT",
        "WORKER_OVERLOADED",
        "WORKER_UNAVAILABLE",
        "BACKEND_ENGINE_SHUTDOWN",
        "BACKEND_STREAM_INCOMPLETE"
      })
  void aWorkersFaultMigrates(ErrorCode code) {
    assertThat(DynamoError.of(code, "m", null).toException()).isInstanceOf(Migratable.class);
  }

  @Test
  void anUnknownErrorTypeIsAnInternalErrorAndNotALostItem() {
    var body =
        "{\"data\":{\"event\":\"error\",\"error\":{\"error_type\":{\"Backend\":\"New\"},\"message\":\"m\"}},\"complete_final\":false}";
    var error =
        ResponseEnvelope.read(
                ByteBuffer.wrap(body.getBytes(StandardCharsets.US_ASCII)), PayloadFormat.JSON)
            .error();
    assertThat(error)
        .isEqualTo(new DynamoError(ErrorCode.BACKEND_UNKNOWN, null, null, "m", null, null, null));
  }

  @Test
  void aFrameCutAnywhereIsRefused() {
    byte[] body = Golden.bodies("chat-error-unary.w2f.bin").getFirst();
    for (int length = 0; length < body.length; length++) {
      var part = ByteBuffer.wrap(body, 0, length);
      assertThatThrownBy(() -> ResponseEnvelope.read(part, PayloadFormat.MSGPACK))
          .isInstanceOf(InvalidRequestException.class);
    }
  }

  private static DynamoException firstError(String name, int index) {
    byte[] body = Golden.bodies(name).get(index);
    var error = ResponseEnvelope.read(ByteBuffer.wrap(body), PayloadFormat.MSGPACK).error();
    if (error == null) {
      throw new AssertionError(name + " has no error at " + index);
    }
    return error.toException();
  }
}
