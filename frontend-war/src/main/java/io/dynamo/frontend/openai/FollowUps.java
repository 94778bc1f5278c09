package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * The prefills of clients' next turns that are under way: a bounded number at once, each with a
 * deadline. Safe for concurrent use.
 */
final class FollowUps {
  /** One prefill. It gives up at the deadline, and when it is cancelled. */
  interface Prefill {
    void run(Cancellation cancellation, Deadline deadline);
  }

  private final Semaphore places;
  private final Duration longest;
  private final Set<Cancellation> running = ConcurrentHashMap.newKeySet();
  private volatile boolean ended; // set before the running ones are cancelled

  /**
   * @param most at once
   * @param longest the time that each may take
   */
  FollowUps(int most, Duration longest) {
    this.places = new Semaphore(most);
    this.longest = longest;
  }

  /**
   * Runs {@code prefill} on the calling thread.
   *
   * @return false when it was left out, because there are as many as may be or none may begin
   */
  boolean run(Prefill prefill) {
    if (!places.tryAcquire()) {
      return false;
    }
    var cancellation = new Cancellation();
    running.add(cancellation);
    try {
      if (ended) {
        return false;
      }
      prefill.run(cancellation, Deadline.after(longest));
      return true;
    } finally {
      running.remove(cancellation);
      places.release();
    }
  }

  /** Cancels all that are under way, and leaves out later ones. */
  void end() {
    ended = true;
    running.forEach(Cancellation::kill);
  }
}
