package io.dynamo.worker.engine;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Runs each piece of work on a daemon thread of its own, in real time. */
public final class ThreadPacer implements Pacer {
  private static final System.Logger LOG = System.getLogger(ThreadPacer.class.getName());
  private static final Duration JOIN = Duration.ofSeconds(5);

  @Override
  public Driven drive(String name, Paced work) {
    var loop = new Loop(work);
    loop.thread = Thread.ofPlatform().daemon().name(name).unstarted(loop);
    loop.thread.start();
    return loop;
  }

  private static final class Loop implements Runnable, Driven {
    private final Paced work;
    private volatile boolean stopped;
    private volatile boolean asked; // a tick was requested since the last one began
    private Thread thread = Thread.currentThread(); // replaced before the start, then never

    Loop(Paced work) {
      this.work = work;
    }

    @Override
    public void run() {
      try {
        while (!stopped) {
          asked = false;
          long wait = work.tick(System.nanoTime());
          if (asked || stopped) {
            continue; // a lock inside the tick may have consumed the permit of the wake
          }
          if (wait == Paced.IDLE) {
            LockSupport.park(this);
          } else if (wait > 0) {
            LockSupport.parkNanos(this, wait);
          }
        }
      } catch (RuntimeException | Error broken) {
        LOG.log(Level.ERROR, "rank stopped: " + Thread.currentThread().getName(), broken);
        throw broken;
      } finally {
        work.end();
      }
    }

    @Override
    public void wake() {
      asked = true;
      LockSupport.unpark(thread);
    }

    @Override
    public void close() {
      stopped = true;
      LockSupport.unpark(thread);
      if (thread.equals(Thread.currentThread())) {
        return; // ends after the tick that made this call
      }
      try {
        if (!thread.join(JOIN)) {
          LOG.log(Level.WARNING, "{0} still runs after {1}", thread.getName(), JOIN);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
