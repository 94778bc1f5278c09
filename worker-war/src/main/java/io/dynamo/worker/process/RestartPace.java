package io.dynamo.worker.process;

import java.time.Duration;

/**
 * The waits before a server that ended is started again: twice as long each time, from the
 * beginning after it ran for a while.
 *
 * @param first the shortest wait
 * @param longest the longest wait
 * @param steady a server that ran for this long has started well
 */
record RestartPace(Duration first, Duration longest, Duration steady) {
  static final RestartPace STANDARD =
      new RestartPace(Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofMinutes(5));

  /**
   * Returns the next wait.
   *
   * @param before the wait before, zero for none
   * @param ran how long the server ran
   */
  Duration next(Duration before, Duration ran) {
    if (before.isZero() || ran.compareTo(steady) >= 0) {
      return first;
    }
    var twice = before.multipliedBy(2);
    return twice.compareTo(longest) > 0 ? longest : twice;
  }
}
