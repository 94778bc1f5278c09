package io.dynamo.pipeline;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** The thread of one event loop, for work that never waits. Safe for concurrent use. */
public final class LoopThread implements Executor {
  private final EventLoop loop;

  private LoopThread(EventLoop loop) {
    this.loop = loop;
  }

  /** Returns the thread that the caller runs on, or one in turn where that is no event loop's. */
  public static LoopThread near(EventLoops loops) {
    return new LoopThread(loops.near());
  }

  /** Whether the caller runs on this thread. */
  public boolean isCurrent() {
    return loop.inEventLoop();
  }

  /** Runs {@code task} after what the thread does at present, also when called on it. */
  @Override
  public void execute(Runnable task) {
    loop.execute(task);
  }

  /** Runs {@code task} after {@code delay}. */
  public Future<?> after(Duration delay, Runnable task) {
    return loop.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
  }
}
