package io.dynamo.wire.request;

import io.dynamo.error.ErrorCode;
import org.jspecify.annotations.Nullable;

/** The class and reason of an error, which 1.6.1 sends beside the older {@code error_type}. */
record ErrorKind(String errorClass, String reason) {
  /**
   * Returns the class and reason that 1.6.1 writes for a code; null where none was observed,
   * because its readers turn an unknown reason into an internal error.
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

  /**
   * Returns the code that an error means: a class is more specific than the type {@code Unknown}
   * beside it.
   */
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

  /**
   * Returns the class and reason of an error with an HTTP status of its own; null when its code
   * suffices.
   */
  static @Nullable ErrorKind ofStatus(int httpStatus) {
    return switch (httpStatus) {
      case 401 -> new ErrorKind("Unauthenticated", "request.unauthenticated");
      case 403 -> new ErrorKind("PermissionDenied", "request.permission_denied");
      case 404 -> new ErrorKind("NotFound", "request.not_found");
      case 409 -> new ErrorKind("Conflict", "request.conflict");
      case 413 -> new ErrorKind("PayloadTooLarge", "request.payload_too_large");
      case 415 -> new ErrorKind("UnsupportedMedia", "request.unsupported_media");
      case 429 -> new ErrorKind("RateLimited", "request.rate_limited");
      case 501 -> new ErrorKind("NotImplemented", "runtime.not_implemented");
      case 502 -> new ErrorKind("BackendProtocol", "backend.protocol");
      default -> null;
    };
  }

  /** Returns the code that 1.6.1 writes beside the class of an error with such a status. */
  static ErrorCode codeOfStatus(int httpStatus) {
    return switch (httpStatus) {
      case 413, 415 -> ErrorCode.INVALID_ARGUMENT;
      case 429 -> ErrorCode.RESOURCE_EXHAUSTED;
      default -> ErrorCode.UNKNOWN;
    };
  }

  /**
   * Returns the status that a class stands for; 0 for an unknown one, or one no more specific than
   * a code.
   */
  static int statusOf(@Nullable String errorClass) {
    return switch (errorClass) {
      case "Unauthenticated" -> 401;
      case "PermissionDenied" -> 403;
      case "NotFound" -> 404;
      case "Conflict" -> 409;
      case "PayloadTooLarge" -> 413;
      case "UnsupportedMedia" -> 415;
      case "RateLimited" -> 429;
      case "NotImplemented" -> 501;
      case "BackendProtocol" -> 502;
      case null, default -> 0;
    };
  }

  /** Returns Dynamo's text for a client's fault when the worker gives none. */
  static String phrase(int httpStatus) {
    return switch (httpStatus) {
      case 401 -> "Authentication required";
      case 403 -> "Permission denied";
      case 404 -> "Resource not found";
      case 409 -> "Request conflict";
      case 413 -> "Request payload too large";
      case 415 -> "Unsupported media type";
      case 429 -> "Rate limit exceeded";
      default -> "Invalid request";
    };
  }
}
