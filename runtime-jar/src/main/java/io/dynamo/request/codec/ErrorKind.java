package io.dynamo.request.codec;

import io.dynamo.error.ErrorCode;
import org.jspecify.annotations.Nullable;

/** Class and reason of an error, as 1.6.1 has them beside the older {@code error_type}. */
record ErrorKind(String errorClass, String reason) {
  /**
   * What 1.6.1 itself was seen to write for a code; null where it was not, because its readers turn
   * a reason that they do not know into an internal error.
   */
  static @Nullable ErrorKind of(ErrorCode code) {
    return switch (code) {
      case UNKNOWN -> new ErrorKind("Internal", "runtime.unclassified");
      case INVALID_ARGUMENT -> new ErrorKind("InvalidRequest", "request.invalid_argument");
      case RESPONSE_TIMEOUT -> new ErrorKind("DeadlineExceeded", "request.deadline_exceeded");
      case CANCELLED -> new ErrorKind("Cancelled", "request.cancelled");
      case RESOURCE_EXHAUSTED -> new ErrorKind("CapacityExhausted", "capacity.exhausted");
      case UNAVAILABLE -> new ErrorKind("Unavailable", "backend.unavailable");
      case WORKER_UNAVAILABLE -> new ErrorKind("Unavailable", "backend.worker_unavailable");
      case BACKEND_UNKNOWN -> new ErrorKind("Internal", "backend.unknown");
      case BACKEND_INVALID_ARGUMENT -> new ErrorKind("InvalidRequest", "backend.invalid_argument");
      case BACKEND_CANNOT_CONNECT -> new ErrorKind("Unavailable", "backend.cannot_connect");
      case BACKEND_DISCONNECTED -> new ErrorKind("Unavailable", "backend.disconnected");
      case BACKEND_CONNECTION_TIMEOUT ->
          new ErrorKind("DeadlineExceeded", "backend.connection_timeout");
      case BACKEND_CANCELLED -> new ErrorKind("Cancelled", "backend.cancelled");
      case BACKEND_ENGINE_SHUTDOWN -> new ErrorKind("Unavailable", "backend.engine_shutdown");
      case BACKEND_STREAM_INCOMPLETE -> new ErrorKind("Unavailable", "backend.stream_incomplete");
      case CANNOT_CONNECT,
          DISCONNECTED,
          CONNECTION_TIMEOUT,
          WORKER_OVERLOADED,
          BACKEND_RESPONSE_TIMEOUT ->
          null;
    };
  }

  /** What an error means: a class says more than the type {@code Unknown} beside it. */
  static ErrorCode effective(ErrorCode code, @Nullable String errorClass) {
    if (code != ErrorCode.UNKNOWN || errorClass == null) {
      return code;
    }
    return switch (errorClass) {
      case "InvalidRequest",
          "Unauthenticated",
          "PermissionDenied",
          "NotFound",
          "Conflict",
          "PayloadTooLarge",
          "UnsupportedMedia" ->
          ErrorCode.INVALID_ARGUMENT;
      case "RateLimited", "CapacityExhausted" -> ErrorCode.RESOURCE_EXHAUSTED;
      case "Unavailable" -> ErrorCode.UNAVAILABLE;
      case "Cancelled" -> ErrorCode.CANCELLED;
      default -> code;
    };
  }
}
