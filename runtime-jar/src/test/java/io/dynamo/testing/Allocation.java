package io.dynamo.testing;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/** Measures what code allocates on the heap: unlike time, the same on a busy machine. */
public final class Allocation {
  private static final int ROUNDS = 11;
  private static final int PER_ROUND = 5_000;

  private Allocation() {}

  /**
   * Bytes that {@code task} allocates on the calling thread, warm: the median of several rounds.
   */
  public static long bytesEach(Runnable task) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    var rounds = new long[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < PER_ROUND; i++) {
        task.run();
      }
      rounds[round] = threads.getCurrentThreadAllocatedBytes() - before;
    }
    Arrays.sort(rounds);
    return rounds[ROUNDS / 2] / PER_ROUND;
  }

  /** Bytes that {@code task} allocates on the calling thread, what it warms up included. */
  public static long bytes(Runnable task) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    task.run();
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}
