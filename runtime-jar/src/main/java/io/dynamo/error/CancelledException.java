package io.dynamo.error;

/** The requester has given up the request. */
public final class CancelledException extends Failed {
  public CancelledException(String message) {
    super(ErrorCode.CANCELLED, message, null);
  }
}
