package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/**
 * The engine, or code beside it, failed while it served a request. The message stays in the log.
 */
public final class EngineFailedException extends Failed {
  private final int httpStatus;

  public EngineFailedException(ErrorCode code, String message, @Nullable Throwable cause) {
    this(code, code.httpStatus(), message, cause);
  }

  /**
   * @param httpStatus a status more specific than the code's: 501 or 502
   */
  public EngineFailedException(
      ErrorCode code, int httpStatus, String message, @Nullable Throwable cause) {
    super(code, message, cause);
    this.httpStatus = httpStatus;
  }

  @Override
  public int httpStatus() {
    return httpStatus;
  }
}
