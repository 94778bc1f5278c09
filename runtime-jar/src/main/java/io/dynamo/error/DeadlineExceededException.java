package io.dynamo.error;

/** The request's deadline passed before its end. */
public final class DeadlineExceededException extends Failed {
  public DeadlineExceededException(String message) {
    super(ErrorCode.RESPONSE_TIMEOUT, message, null);
  }
}
