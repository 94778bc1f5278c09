package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Makes a bounded number of lists at once, so that many callers of lists leave memory to others.
 * Safe for concurrent use.
 */
final class ListTurns {
  private static final int RETRY_SECONDS = 1;

  private final Semaphore free;
  private final Duration wait;

  /**
   * @param wait the longest time for a turn
   */
  ListTurns(int most, Duration wait) {
    this.free = new Semaphore(most, true);
    this.wait = wait;
  }

  /** Makes the body of a list. */
  interface Body {
    byte[] make() throws InterruptedException;
  }

  /**
   * Waits for a turn and makes a list.
   *
   * @param share charged with {@code bytes} meanwhile, then with the body alone
   * @throws ApiException with 503 when too many others wait, or there is no memory
   */
  byte[] make(BodyBudget.Share share, long bytes, Body body) throws InterruptedException {
    if (!free.tryAcquire(wait.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new ApiException(
          ApiError.overloaded(503, "too many lists are asked for at once", RETRY_SECONDS));
    }
    try {
      share.chargeComplete(bytes);
      var made = body.make();
      share.chargeComplete(made.length);
      return made;
    } finally {
      free.release();
    }
  }
}
