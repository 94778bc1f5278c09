package io.dynamo.error;

/** The requester gave up. */
public final class CancelledException extends Failed {
  public CancelledException(String message) {
    super(ErrorCode.CANCELLED, message, null);
  }
}
