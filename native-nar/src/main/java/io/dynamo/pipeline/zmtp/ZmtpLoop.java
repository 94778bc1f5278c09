package io.dynamo.pipeline.zmtp;

import io.dynamo.pipeline.EventLoops;
import io.netty.channel.EventLoop;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One event loop: its tasks run in turn, on one thread, as do all callbacks of its connections.
 * Safe for concurrent use. Once the loops are closed nothing runs any more.
 */
public final class ZmtpLoop {
  private static final System.Logger LOG = System.getLogger(ZmtpLoop.class.getName());

  final EventLoops loops;
  final EventLoop loop;

  private ZmtpLoop(EventLoops loops) {
    this.loops = loops;
    this.loop = loops.next();
  }

  /** Returns one of {@code loops}, in turn. */
  public static ZmtpLoop of(EventLoops loops) {
    return new ZmtpLoop(loops);
  }

  /** Runs {@code task} soon; it must not block. */
  public void execute(Runnable task) {
    try {
      loop.execute(() -> safely(task));
    } catch (RejectedExecutionException _) {
      // the loops are closed, and their sockets too
    }
  }

  /** Runs {@code task} after {@code delay}; it must not block. */
  public void executeAfter(Duration delay, Runnable task) {
    try {
      var _ = loop.schedule(() -> safely(task), delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException _) {
      // the loops are closed, and their sockets too
    }
  }

  private static void safely(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a task of the sockets failed; the next goes on", e);
    }
  }
}
