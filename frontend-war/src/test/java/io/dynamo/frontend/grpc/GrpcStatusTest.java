package io.dynamo.frontend.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.ApiError;
import io.grpc.Metadata;
import io.grpc.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GrpcStatusTest {
  @ParameterizedTest
  @CsvSource({
    "400, INVALID_ARGUMENT",
    "401, UNAUTHENTICATED",
    "403, PERMISSION_DENIED",
    "404, NOT_FOUND",
    "408, DEADLINE_EXCEEDED",
    "413, RESOURCE_EXHAUSTED",
    "415, INVALID_ARGUMENT",
    "429, RESOURCE_EXHAUSTED",
    "431, RESOURCE_EXHAUSTED",
    "499, CANCELLED",
    "500, INTERNAL",
    "501, UNIMPLEMENTED",
    "502, UNAVAILABLE",
    "503, UNAVAILABLE",
    "504, DEADLINE_EXCEEDED",
    "529, RESOURCE_EXHAUSTED"
  })
  void statusesOfHttpHaveTheirCodes(int http, Status.Code code) {
    var status = GrpcStatus.of(ApiError.of(http, "why"));

    assertThat(status.getCode()).isEqualTo(code);
    assertThat(status.getDescription()).isEqualTo("why");
  }

  @Test
  void overloadIsExhaustionAndSaysWhenToRetry() {
    var overload = ApiError.overloaded(503, "busy", 2);

    assertThat(GrpcStatus.of(overload).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(
            GrpcStatus.trailers(overload)
                .get(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER)))
        .isEqualTo("2000");
    assertThat(GrpcStatus.trailers(ApiError.of(400, "")).keys()).isEmpty();
  }

  @Test
  void longMessagesAreCut() {
    assertThat(GrpcStatus.of(ApiError.of(400, "x".repeat(10_000))).getDescription()).hasSize(4096);
  }
}
