package io.dynamo.request.codec;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

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
      case "overloaded" -> OverloadedException.class;
      case "cancelled" -> CancelledException.class;
      case "lost" -> WorkerLostException.class;
      default -> EngineFailedException.class;
    };
  }

  @ParameterizedTest
  @CsvSource({
    "100, failed",
    "200, failed",
    "302, failed",
    "400, invalid",
    "401, invalid",
    "403, invalid",
    "404, invalid",
    "408, lost",
    "409, invalid",
    "413, invalid",
    "415, invalid",
    "422, invalid",
    "429, overloaded",
    "451, invalid",
    "499, cancelled",
    "500, failed",
    "501, failed",
    "502, failed",
    "503, failed",
    "504, lost",
    "507, failed",
    "529, overloaded",
    "599, failed"
  })
  void anErrorOfAnHttpStatusMeansTheSameHere(String status, String meaning) throws Exception {
    assertThat(read(captured("http-status").get(status)).toException())
        .isExactlyInstanceOf(type(meaning));
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
