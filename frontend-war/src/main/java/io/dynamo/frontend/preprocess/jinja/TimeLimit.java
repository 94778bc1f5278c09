package io.dynamo.frontend.preprocess.jinja;

import java.time.Duration;

/**
 * The time limit of one rendering. Checked after each operation whose cost grows with its values,
 * and after a fixed number of others. For one thread.
 */
public final class TimeLimit {
  private static final int STEPS_PER_LOOK_AT_CLOCK = 1024;

  private final Duration limit;
  private final long startNanos = System.nanoTime();
  private int steps;

  public TimeLimit(Duration limit) {
    this.limit = limit;
  }

  /** Counts an operation of small cost. */
  void step() {
    if (++steps % STEPS_PER_LOOK_AT_CLOCK == 0) {
      check();
    }
  }

  /**
   * Checks the clock.
   *
   * @throws JinjaException when the time is up, or the thread is interrupted
   */
  public void check() {
    if (Thread.currentThread().isInterrupted()) {
      throw new JinjaException("the caller no longer waits for the rendered template");
    }
    if (System.nanoTime() - startNanos >= limit.toNanos()) {
      throw new JinjaException("the template runs longer than " + limit);
    }
  }
}
