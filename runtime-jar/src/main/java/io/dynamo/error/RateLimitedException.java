package io.dynamo.error;

/**
 * A worker limits requests per time, and this one exceeds the limit. Answered as 429; the message
 * goes to the client.
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
