package io.dynamo.error;

/** The service as a whole has no room for this request now. Answered with {@code Retry-After}. */
public final class OverloadedException extends Refused {
  public OverloadedException(String message) {
    super(ErrorCode.RESOURCE_EXHAUSTED, message, null);
  }
}
