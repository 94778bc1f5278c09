package io.dynamo.error;

/** A request that no worker can serve in its present form. The message goes to the client. */
public final class InvalidRequestException extends Invalid {
  private final int httpStatus;

  public InvalidRequestException(String message) {
    this(ErrorCode.INVALID_ARGUMENT, message);
  }

  public InvalidRequestException(ErrorCode code, String message) {
    this(code, code.httpStatus(), message);
  }

  /**
   * @param httpStatus a status more specific than 400: 401, 403, 404, 409, 413 or 415
   */
  public InvalidRequestException(ErrorCode code, int httpStatus, String message) {
    super(code, message, null);
    this.httpStatus = httpStatus;
  }

  @Override
  public int httpStatus() {
    return httpStatus;
  }
}
