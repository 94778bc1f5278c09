package io.dynamo.frontend.grpc;

import io.dynamo.frontend.ApiError;
import io.grpc.Metadata;
import io.grpc.Status;

/** The gRPC statuses of errors. */
final class GrpcStatus {
  /** How long clients wait before they try again, as gRPC's own retries read it. */
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  private static final int MAX_MESSAGE = 4096; // characters; trailers are bounded

  private GrpcStatus() {}

  /** The status for an error, with its message. */
  static Status of(ApiError error) {
    var message = error.message();
    return code(error)
        .toStatus()
        .withDescription(
            message.length() > MAX_MESSAGE ? message.substring(0, MAX_MESSAGE) : message);
  }

  private static Status.Code code(ApiError error) {
    if (error.isOverload()) {
      return Status.Code.RESOURCE_EXHAUSTED;
    }
    return switch (error.status()) {
      case 401 -> Status.Code.UNAUTHENTICATED;
      case 403 -> Status.Code.PERMISSION_DENIED;
      case 404 -> Status.Code.NOT_FOUND;
      case 408, 504 -> Status.Code.DEADLINE_EXCEEDED;
      case 409 -> Status.Code.ABORTED;
      case 413, 429, 431, 529 -> Status.Code.RESOURCE_EXHAUSTED;
      case ApiError.CLIENT_GONE -> Status.Code.CANCELLED;
      case 501 -> Status.Code.UNIMPLEMENTED;
      case 502, 503 -> Status.Code.UNAVAILABLE;
      default -> error.status() < 500 ? Status.Code.INVALID_ARGUMENT : Status.Code.INTERNAL;
    };
  }

  /** The trailers that an error is sent with. */
  static Metadata trailers(ApiError error) {
    var trailers = new Metadata();
    var seconds = error.retryAfterSeconds();
    if (seconds != null) {
      trailers.put(PUSHBACK, Long.toString(1000L * seconds));
    }
    return trailers;
  }
}
