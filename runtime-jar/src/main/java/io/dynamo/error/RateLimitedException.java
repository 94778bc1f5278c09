package io.dynamo.error;

/**
 * A worker has a limit of its own for requests in a time, and this one is beyond it. Answered as
 * 429; the message goes to the client.
 */
public final class RateLimitedException extends Refused {
  public RateLimitedException(String message) {
    super(ErrorCode.RESOURCE_EXHAUSTED, message, null);
  }

  @Override
  public int httpStatus() {
    return 429;
  }
}
