package io.dynamo.wire.request;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Invalid;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.RateLimitedException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Golden;
import io.dynamo.wire.WireReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The errors that workers of 1.6.1 were seen to send, and what ours send: class and reason. */
class ErrorTableTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static JsonNode captured(String source) throws IOException {
    return JSON.readTree(Golden.bytes("response-stream/errors-by-" + source + ".json"));
  }

  private static DynamoError read(JsonNode error) throws IOException {
    return WireReader.read(
        "error",
        ByteBuffer.wrap(JSON.writeValueAsBytes(error)),
        PayloadFormat.JSON,
        DynamoError::read);
  }

  private static Class<? extends DynamoException> type(String name) {
    return switch (name) {
      case "invalid" -> InvalidRequestException.class;
      case "limited" -> RateLimitedException.class;
      case "overloaded" -> OverloadedException.class;
      case "cancelled" -> CancelledException.class;
      case "lost" -> WorkerLostException.class;
      default -> EngineFailedException.class;
    };
  }

  @ParameterizedTest
  @CsvSource({
    "100, failed, 500",
    "200, failed, 500",
    "302, failed, 500",
    "400, invalid, 400",
    "401, invalid, 401",
    "403, invalid, 403",
    "404, invalid, 404",
    "408, lost, 408",
    "409, invalid, 409",
    "413, invalid, 413",
    "415, invalid, 415",
    "422, invalid, 400",
    "429, limited, 429",
    "451, invalid, 400",
    "499, cancelled, 499",
    "500, failed, 500",
    "501, failed, 501",
    "502, failed, 502",
    "503, failed, 503",
    "504, lost, 504",
    "507, failed, 500",
    "529, overloaded, 529",
    "599, failed, 500"
  })
  void anErrorOfAnHttpStatusMeansTheSameHere(String status, String meaning, int answered)
      throws Exception {
    var failure = read(captured("http-status").get(status)).toException();
    assertThat(failure).isExactlyInstanceOf(type(meaning));
    assertThat(failure.httpStatus()).isEqualTo(answered);
    if (failure instanceof Invalid || failure instanceof RateLimitedException) {
      assertThat(failure).as("the worker's own words").hasMessage("m" + status);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, 'Invalid request', {}",
    "400, 'Invalid request', ValueError: secret",
    "400, 'Invalid request', '{\"message\":\"\",\"code\":400}'",
    "400, 'Invalid request', '{\"message\":\"secret\",\"code\":500}'",
    "400, 'Invalid request', '{\"message\":\"secret\"'",
    "404, nothing there, '{\"message\":\"nothing there\",\"code\":404}'",
    "429, slow down, '{\"code\":429,\"message\":\"slow down\",\"more\":[1]}'"
  })
  void aWorkerBefore16StatesItsStatusInTheMessage(int status, String stated, String message)
      throws Exception {
    var error = JSON.createObjectNode().put("message", message);
    error.putObject("error_type").put("Backend", "InvalidArgument");
    assertThat(read(error).toException())
        .hasMessage(stated)
        .extracting(DynamoException::httpStatus)
        .isEqualTo(status);
  }

  @Test
  void wordsForAClientAreBounded() {
    var error = DynamoError.of(ErrorCode.INVALID_ARGUMENT, "m", "x".repeat(100_000));
    assertThat(error.toException().getMessage()).hasSizeLessThan(5000);
  }

  /** Statuses that our workers write of a failure are known to readers of 1.6.1. */
  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 409, 413, 415, 429, 501, 502})
  void ourErrorsKeepTheirStatusOnTheWire(int status) throws Exception {
    DynamoException failure =
        status == 429
            ? new RateLimitedException("why")
            : status > 500
                ? new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, status, "why", null)
                : new InvalidRequestException(ErrorCode.INVALID_ARGUMENT, status, "why");
    var ours = DynamoError.of(failure);
    assertThat(seen())
        .contains(ours.code().wireName() + " " + ours.errorClass() + " " + ours.reason());
    assertThat(ours.toException())
        .isExactlyInstanceOf(failure.getClass())
        .hasMessage("why")
        .extracting(DynamoException::httpStatus)
        .isEqualTo(status);
  }

  @ParameterizedTest
  @CsvSource({
    "cancelled, BACKEND_CANCELLED",
    "code422, INVALID_ARGUMENT",
    "genexit, BACKEND_ENGINE_SHUTDOWN",
    "http, RESOURCE_EXHAUSTED",
    "refused, BACKEND_CANNOT_CONNECT",
    "reset, BACKEND_DISCONNECTED",
    "runtime, BACKEND_UNKNOWN",
    "status503, UNAVAILABLE",
    "timeout, BACKEND_CONNECTION_TIMEOUT",
    "value, BACKEND_INVALID_ARGUMENT",
    "x_StreamIncomplete, BACKEND_STREAM_INCOMPLETE",
    "x_WorkerUnavailable, WORKER_UNAVAILABLE",
    "x_DynamoException, BACKEND_UNKNOWN"
  })
  void anErrorOfAPythonExceptionKeepsItsCode(String name, ErrorCode code) throws Exception {
    assertThat(read(captured("python-exception").get(name)).code()).isEqualTo(code);
  }

  /** Readers of 1.6.1 turn a class or reason that they do not know into an internal error. */
  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void ourErrorsHaveAClassAndReasonThatWereSeenOrNone(ErrorCode code) throws Exception {
    var ours = DynamoError.of(code, "why", null);
    if (ours.errorClass() == null) {
      assertThat(ours.reason()).isNull();
    } else {
      assertThat(seen()).contains(code.wireName() + " " + ours.errorClass() + " " + ours.reason());
    }
  }

  private static Set<String> seen() throws IOException {
    Set<String> seen = new HashSet<>();
    for (var source : new String[] {"http-status", "python-exception"}) {
      for (var error : captured(source)) {
        var type = error.get("error_type");
        seen.add(
            "%s %s %s"
                .formatted(
                    type.isObject() ? type.get("Backend").asText() : type.asText(),
                    error.get("class").asText(),
                    error.get("reason").asText()));
      }
    }
    // in the captured streams: an engine's own refusal, and a failure before the stream
    seen.add("InvalidArgument InvalidRequest request.invalid_argument");
    seen.add("Unknown Internal runtime.unclassified");
    return seen;
  }

  @Test
  void theKindsOfTheCapturedStreamsAreAmongThoseSeen() {
    byte[] refused = Golden.bodies("chat-error-unary.w2f.bin").getFirst();
    var error = ResponseEnvelope.read(ByteBuffer.wrap(refused), PayloadFormat.MSGPACK).error();
    assertThat(error).isNotNull();
    if (error != null) {
      assertThat(error.errorClass() + " " + error.reason())
          .isEqualTo("InvalidRequest request.invalid_argument");
    }
    assertThat(
            new String(
                Golden.frames("prologue-error.w2f.bin").get(1).header(), StandardCharsets.UTF_8))
        .contains("runtime.unclassified");
  }
}
