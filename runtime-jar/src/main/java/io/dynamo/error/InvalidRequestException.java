package io.dynamo.error;

/** A request that no worker can serve as it stands. The message goes to the client. */
public final class InvalidRequestException extends Invalid {
  public InvalidRequestException(String message) {
    super(ErrorCode.INVALID_ARGUMENT, message, null);
  }

  public InvalidRequestException(ErrorCode code, String message) {
    super(code, message, null);
  }
}
