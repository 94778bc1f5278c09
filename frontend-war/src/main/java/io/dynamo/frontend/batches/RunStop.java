package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Tells the threads of a batch that its run is to end, and lets them wait for that. */
final class RunStop {
  private static final Duration DATABASE_PAUSE = Duration.ofSeconds(1);

  /** Signals that a run ends at once and that nothing more of it is to be written. */
  static final class AbandonedException extends Exception {
    private static final long serialVersionUID = 1L;

    AbandonedException() {
      super("the batch is left to another run", null, false, false);
    }
  }

  /** A call of the database. */
  interface StoreCall<T> {
    T run() throws InterruptedException;
  }

  private final CountDownLatch stopped = new CountDownLatch(1);
  private volatile boolean cancelled;
  private volatile boolean left;
  private volatile boolean lost;

  /** Has the run begin no further lines and end its batch, as the client wishes. */
  void cancel() {
    cancelled = true;
    stopped.countDown();
  }

  /** Has the run end, as the server stops: the next one goes on. */
  void leave() {
    left = true;
    stopped.countDown();
  }

  /** Has the run end, as another server may have the batch. */
  void lose() {
    lost = true;
    stopped.countDown();
  }

  /** Whether no further line is to begin. */
  boolean isSet() {
    return cancelled || left || lost;
  }

  /** Whether the server stops. */
  boolean isLeft() {
    return left;
  }

  /** Whether nothing more is to be written. */
  boolean isAbandoned() {
    return left || lost;
  }

  /** Waits for the end of the run; returns whether it came in that time. */
  boolean await(Duration time) throws InterruptedException {
    return stopped.await(time.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Makes a call, again while the database does not answer. That ends with the claim on the batch,
   * which the database has to renew, at the latest.
   *
   * @throws AbandonedException when the run is to end at once
   */
  <T> T persistently(StoreCall<T> call) throws InterruptedException, AbandonedException {
    while (true) {
      if (isAbandoned()) {
        throw new AbandonedException();
      }
      try {
        return call.run();
      } catch (ApiException e) {
        if (e.error().status() != 503) {
          throw e;
        }
        pause();
      }
    }
  }

  /** Waits before a call of the database is made again. */
  private void pause() throws InterruptedException {
    if (await(DATABASE_PAUSE) && !isAbandoned()) { // cancelled, which is to be written
      Thread.sleep(DATABASE_PAUSE);
    }
  }
}
