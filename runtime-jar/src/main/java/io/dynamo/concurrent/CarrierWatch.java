package io.dynamo.concurrent;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import org.jspecify.annotations.Nullable;

/**
 * Adds carriers while virtual threads wait and none gets one, and takes them away again.
 *
 * <p>A virtual thread that waits for a lock while it loads or initialises a class keeps its
 * carrier, and a JVM has as many carriers as cores. When threads that wait for one lock keep all of
 * them, and the lock falls to a virtual thread without a carrier, all of them wait for ever, and so
 * does every platform thread behind them.
 *
 * <p>The watch is a platform thread. While no virtual thread is queued, it reads one number now and
 * then.
 */
public final class CarrierWatch implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(CarrierWatch.class.getName());

  private static final int MOST_ADDED = 64;
  private static final Pace USUAL =
      new Pace(Duration.ofSeconds(2), Duration.ofSeconds(3), Duration.ofMinutes(1));

  /**
   * When the watch acts.
   *
   * @param between two looks
   * @param patience how long a virtual thread may wait for a carrier
   * @param calm how long none has had to wait before added carriers are taken away
   */
  record Pace(Duration between, Duration patience, Duration calm) {}

  private final @Nullable Thread thread;

  private CarrierWatch(@Nullable Thread thread) {
    this.thread = thread;
  }

  /** Starts a watch; where the JVM does not tell of its carriers, one that does nothing. */
  public static CarrierWatch start() {
    return start(USUAL);
  }

  static CarrierWatch start(Pace pace) {
    var carriers = Carriers.find();
    if (carriers != null) {
      try {
        var looks = new Looks(carriers, pace);
        looks.prepare();
        return new CarrierWatch(
            Thread.ofPlatform().daemon().name("carrier-watch").start(looks::run));
      } catch (JMException | RuntimeException e) {
        LOG.log(Level.DEBUG, "carriers of virtual threads cannot be added", e);
      }
    }
    LOG.log(Level.INFO, "carriers of virtual threads are not watched: this JVM does not show them");
    return new CarrierWatch(null);
  }

  /** Takes added carriers away and ends the watch, without waiting for it. Idempotent. */
  @Override
  public void close() {
    if (thread != null) {
      thread.interrupt();
    }
  }

  /** The work of the watch's thread, which alone uses it. */
  private static final class Looks {
    private final Carriers carriers;
    private final Pace pace;
    private int added;
    private long calmSince; // by nanoTime; of use while carriers are added

    private Looks(Carriers carriers, Pace pace) {
      this.carriers = carriers;
      this.pace = pace;
    }

    /** Uses once what later must not wait for a class to be loaded. */
    private void prepare() throws JMException {
      carriers.setParallelism(carriers.parallelism());
      var _ = new Probe();
    }

    private void run() {
      try {
        while (true) {
          Thread.sleep(pace.between());
          look();
        }
      } catch (InterruptedException _) {
        end();
      } catch (JMException | RuntimeException e) {
        end();
        LOG.log(Level.WARNING, "carriers of virtual threads are no longer watched", e);
      }
    }

    private void look() throws InterruptedException, JMException {
      if (carriers.queued() > 0) {
        int before = added;
        awaitOne();
        if (added > before) {
          calmSince = System.nanoTime();
          LOG.log( // now, as the log may need what was stuck
              Level.WARNING,
              "virtual threads waited {0} ms or longer for a carrier, so {1} carriers were added; they"
                  + " are taken away after {2} s without such waits",
              pace.patience().toMillis(),
              added - before,
              pace.calm().toSeconds());
        }
      }
      if (added > 0 && System.nanoTime() - calmSince > pace.calm().toNanos()) {
        takeAway();
      }
    }

    /** Returns once a new virtual thread has run. */
    private void awaitOne() throws InterruptedException, JMException {
      var probe = new Probe();
      boolean told = false;
      while (!probe.hasRun(pace.patience())) {
        if (added < MOST_ADDED) {
          add();
        } else if (!told) {
          told = true;
          tell();
        }
      }
    }

    /** As many as the JVM has by itself: a machine that is only overloaded gets few of them. */
    private void add() throws JMException {
      int now = carriers.parallelism();
      int more = Math.clamp(now - added, 1, MOST_ADDED - added);
      carriers.setParallelism(now + more);
      added += more;
    }

    /** On another thread, as the log may need what is stuck. */
    private static void tell() {
      Thread.ofPlatform()
          .daemon()
          .name("carrier-watch-log")
          .start(
              () ->
                  LOG.log(
                      Level.ERROR,
                      "virtual threads do not run, although {0} carriers were added; take a thread"
                          + " dump with jcmd and restart the server",
                      MOST_ADDED));
    }

    private void takeAway() throws JMException {
      carriers.setParallelism(Math.max(1, carriers.parallelism() - added));
      added = 0;
    }

    private void end() {
      try {
        takeAway();
      } catch (JMException | RuntimeException e) {
        LOG.log(Level.DEBUG, "carriers that were added stay", e);
      }
    }
  }

  /** A virtual thread that ends at once when it gets a carrier. */
  private static final class Probe implements Runnable {
    private final CountDownLatch ran = new CountDownLatch(1);

    private Probe() {
      var _ = Thread.ofVirtual().name("carrier-probe").start(this);
    }

    @Override
    public void run() {
      ran.countDown();
    }

    /** Waits in two parts, as a first may end while the whole process stands still. */
    private boolean hasRun(Duration patience) throws InterruptedException {
      long half = patience.toNanos() / 2;
      boolean done = ran.await(half, TimeUnit.NANOSECONDS);
      return done || ran.await(half, TimeUnit.NANOSECONDS);
    }
  }
}
