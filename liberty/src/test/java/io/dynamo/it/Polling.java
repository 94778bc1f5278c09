package io.dynamo.it;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits at process borders, where nothing can notify. */
final class Polling {
  private static final Duration INTERVAL = Duration.ofMillis(20);

  private Polling() {}

  /** An assertion that is repeated until it holds. */
  interface Assertion {
    void check() throws Exception;
  }

  /** Repeats until it holds, and fails as it failed last when it never does. */
  static void untilAsserted(Duration limit, Assertion assertion) {
    long started = System.nanoTime();
    while (true) {
      try {
        assertion.check();
        return;
      } catch (AssertionError failed) {
        if (System.nanoTime() - started > limit.toNanos()) {
          throw failed;
        }
      } catch (Exception broken) {
        throw new AssertionError("could not be checked", broken);
      }
      LockSupport.parkNanos(INTERVAL.toNanos());
    }
  }

  /**
   * Asks until the answer is yes; an exception counts as no.
   *
   * @return nanoseconds waited
   * @throws AssertionError when the answer is still no after {@code limit}
   */
  static long until(String what, Duration limit, Callable<Boolean> question) {
    return until(what, limit, INTERVAL, question);
  }

  /** The same, asked less often, or more: a question may cost the one that is asked. */
  static long until(String what, Duration limit, Duration interval, Callable<Boolean> question) {
    long started = System.nanoTime();
    Exception last = null;
    while (System.nanoTime() - started < limit.toNanos()) {
      try {
        if (question.call()) {
          return System.nanoTime() - started;
        }
      } catch (Exception notYet) {
        last = notYet;
      }
      LockSupport.parkNanos(interval.toNanos());
    }
    throw new AssertionError(what + ": not within " + limit, last);
  }
}
