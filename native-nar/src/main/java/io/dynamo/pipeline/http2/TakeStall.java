package io.dynamo.pipeline.http2;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Detects a peer that opens no window for the frames that wait for it. Belongs to the stream's
 * event loop; checks a few times per limit.
 */
final class TakeStall {
  private static final int LOOKS = 4;

  private final DataFrames frames;
  private final EventExecutor loop;
  private final long limitNanos;
  private final Runnable stalled;
  private long seenTaken;
  private long movedAtNanos;
  private @Nullable Future<?> timer;

  /**
   * @param stalled called once, on the event loop
   */
  TakeStall(DataFrames frames, EventExecutor loop, Duration limit, Runnable stalled) {
    this.frames = frames;
    this.loop = loop;
    this.limitNanos = limit.toNanos();
    this.stalled = stalled;
  }

  void start() {
    movedAtNanos = System.nanoTime();
    schedule();
  }

  void stop() {
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }

  private void schedule() {
    timer = loop.schedule(this::look, Math.max(1, limitNanos / LOOKS), TimeUnit.NANOSECONDS);
  }

  private void look() {
    long now = System.nanoTime();
    if (!frames.isWaiting() || frames.taken() != seenTaken) {
      seenTaken = frames.taken();
      movedAtNanos = now;
    } else if (now - movedAtNanos >= limitNanos) {
      stalled.run();
      return;
    }
    schedule();
  }
}
