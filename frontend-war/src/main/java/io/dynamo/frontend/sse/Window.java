package io.dynamo.frontend.sse;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Releases what inboxes hold back, that of all inboxes at once: a window after the first item that
 * came since the last release. One timer task for all streams, and none while nothing is held. Safe
 * for concurrent use.
 */
public final class Window {
  private final long nanos;
  private final ScheduledExecutorService timer;
  private final Queue<Inbox<?>> held = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger(); // of those in the queue, or fewer
  private final AtomicBoolean scheduled = new AtomicBoolean();

  /**
   * @param length how long an item may be held
   * @param timer for tasks that never wait
   */
  public Window(Duration length, ScheduledExecutorService timer) {
    this.nanos = length.toNanos();
    this.timer = timer;
  }

  /** Has {@code inbox} released within the window. Called once until it is. */
  void hold(Inbox<?> inbox) {
    held.add(inbox);
    count.incrementAndGet();
    if (scheduled.compareAndSet(false, true)) {
      try {
        var _ = timer.schedule(this::release, nanos, TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException _) { // the server stops: nothing is held any more
        release();
      }
    }
  }

  private void release() {
    scheduled.set(false); // before the count: what is held from now on has another release
    for (int left = count.getAndSet(0); left > 0; left--) {
      var next = held.poll();
      if (next != null) {
        next.release();
      }
    }
  }
}
