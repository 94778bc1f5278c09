package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/** A worker could not be reached, went silent, or cut its stream before the end. */
public final class WorkerLostException extends Migratable {
  private final int httpStatus;

  public WorkerLostException(ErrorCode code, String message) {
    this(code, message, null);
  }

  public WorkerLostException(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
    this.httpStatus = code.httpStatus();
  }

  /**
   * @param httpStatus the client's status when no other worker takes over: 408
   */
  public WorkerLostException(ErrorCode code, int httpStatus, String message) {
    super(code, message, null);
    this.httpStatus = httpStatus;
  }

  @Override
  public int httpStatus() {
    return httpStatus;
  }
}
