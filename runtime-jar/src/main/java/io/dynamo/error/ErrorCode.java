package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/**
 * The kinds of failure that travel between processes, by Dynamo's own names. A backend kind is a
 * failure inside the engine; on the wire it is the one-entry map {@code {"Backend": name}}, a plain
 * kind is a string.
 */
public enum ErrorCode {
  UNKNOWN("Unknown", false, 500),
  INVALID_ARGUMENT("InvalidArgument", false, 400),
  CANNOT_CONNECT("CannotConnect", false, 503),
  DISCONNECTED("Disconnected", false, 503),
  CONNECTION_TIMEOUT("ConnectionTimeout", false, 504),
  RESPONSE_TIMEOUT("ResponseTimeout", false, 504),
  CANCELLED("Cancelled", false, 499),
  RESOURCE_EXHAUSTED("ResourceExhausted", false, 529),
  WORKER_OVERLOADED("WorkerOverloaded", false, 529),
  UNAVAILABLE("Unavailable", false, 503),
  WORKER_UNAVAILABLE("WorkerUnavailable", false, 503),
  BACKEND_UNKNOWN("Unknown", true, 500),
  BACKEND_INVALID_ARGUMENT("InvalidArgument", true, 400),
  BACKEND_CANNOT_CONNECT("CannotConnect", true, 503),
  BACKEND_DISCONNECTED("Disconnected", true, 503),
  BACKEND_CONNECTION_TIMEOUT("ConnectionTimeout", true, 504),
  BACKEND_RESPONSE_TIMEOUT("ResponseTimeout", true, 504),
  BACKEND_CANCELLED("Cancelled", true, 499),
  BACKEND_ENGINE_SHUTDOWN("EngineShutdown", true, 503),
  BACKEND_STREAM_INCOMPLETE("StreamIncomplete", true, 503);

  private final String wireName;
  private final boolean backend;
  private final int httpStatus;

  ErrorCode(String wireName, boolean backend, int httpStatus) {
    this.wireName = wireName;
    this.backend = backend;
    this.httpStatus = httpStatus;
  }

  public String wireName() {
    return wireName;
  }

  /** Whether the engine failed, rather than the connection to it. */
  public boolean isBackend() {
    return backend;
  }

  /**
   * Whether a requester that receives the code goes on with another worker, as Dynamo 1.6.1 does.
   * Most kinds of failure inside an engine are final.
   */
  public boolean isMigratable() {
    return switch (this) {
      case CANNOT_CONNECT,
          DISCONNECTED,
          CONNECTION_TIMEOUT,
          RESPONSE_TIMEOUT,
          WORKER_OVERLOADED,
          WORKER_UNAVAILABLE,
          BACKEND_ENGINE_SHUTDOWN,
          BACKEND_STREAM_INCOMPLETE ->
          true;
      case UNKNOWN,
          INVALID_ARGUMENT,
          CANCELLED,
          RESOURCE_EXHAUSTED,
          UNAVAILABLE,
          BACKEND_UNKNOWN,
          BACKEND_INVALID_ARGUMENT,
          BACKEND_CANNOT_CONNECT,
          BACKEND_DISCONNECTED,
          BACKEND_CONNECTION_TIMEOUT,
          BACKEND_RESPONSE_TIMEOUT,
          BACKEND_CANCELLED ->
          false;
    };
  }

  /** Returns the status for an HTTP client, as Dynamo 1.6.1 answers. */
  public int httpStatus() {
    return httpStatus;
  }

  /**
   * Returns the code of a wire name, or {@link #UNKNOWN} ({@link #BACKEND_UNKNOWN}) for a name that
   * this version does not know.
   */
  public static ErrorCode ofWire(@Nullable String name, boolean backend) {
    for (var code : values()) {
      if (code.backend == backend && code.wireName.equals(name)) {
        return code;
      }
    }
    return backend ? BACKEND_UNKNOWN : UNKNOWN;
  }
}
