package io.dynamo.error;

/** No live worker can take the request now. Answered as 503 with {@code Retry-After}. */
public final class NoWorkerException extends Refused {
  public NoWorkerException(Object endpoint, int known, int excluded) {
    super(
        ErrorCode.UNAVAILABLE,
        "no worker for %s: %d known, %d of them set aside after a failure; start one or retry shortly"
            .formatted(endpoint, known, excluded),
        null);
  }

  /** For the case that there are workers, but none that this request may go to. */
  public NoWorkerException(String message) {
    super(ErrorCode.UNAVAILABLE, message, null);
  }
}
