package io.dynamo.pipeline;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Detects a peer whose socket accepts none of the bytes that wait to be written. A peer that
 * accepts little at a time is slow, not stalled. Belongs to the channel's event loop; checks a few
 * times per limit, so that a write costs one addition.
 */
final class WriteStall {
  private static final int LOOKS = 4;

  private final Channel channel;
  private final long limitNanos;
  private final Runnable stalled;
  private long written;
  private long seenWritten;
  private long seenProgress;
  private long movedAtNanos;
  private @Nullable Future<?> timer;

  /**
   * @param stalled called once, on the event loop
   */
  WriteStall(Channel channel, Duration limit, Runnable stalled) {
    this.channel = channel;
    this.limitNanos = limit.toNanos();
    this.stalled = stalled;
  }

  void start() {
    movedAtNanos = System.nanoTime();
    schedule();
  }

  /** Records that one write has reached the kernel. */
  void written() {
    written++;
  }

  void stop() {
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }

  private void schedule() {
    timer =
        channel
            .eventLoop()
            .schedule(this::look, Math.max(1, limitNanos / LOOKS), TimeUnit.NANOSECONDS);
  }

  private void look() {
    var waiting = channel.unsafe().outboundBuffer();
    if (waiting == null) {
      return; // the channel is closed
    }
    long now = System.nanoTime();
    long progress = waiting.currentProgress();
    if (waiting.totalPendingWriteBytes() == 0
        || written != seenWritten
        || progress != seenProgress) {
      seenWritten = written;
      seenProgress = progress;
      movedAtNanos = now;
    } else if (now - movedAtNanos >= limitNanos) {
      stalled.run();
      return;
    }
    schedule();
  }
}
