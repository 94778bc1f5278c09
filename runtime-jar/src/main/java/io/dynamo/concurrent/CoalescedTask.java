package io.dynamo.concurrent;

import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs one task on an executor each time that a run is requested, never twice at a time. Requests
 * that come before a run has ended are answered by one further run. Safe for concurrent use; no
 * thread is held while nothing is requested, and {@link #request} never waits.
 *
 * <p>A run sees everything that happened before the requests that it answers, and everything that
 * the runs before it did: state that only the task touches needs no lock. A run that throws is
 * logged; the next request leads to the next run.
 *
 * <p>When the executor rejects the run, the task does not run. A second task runs in its place, on
 * the thread of the request, which may there give up what the task would have worked on. The next
 * request tries the executor again.
 */
public final class CoalescedTask {
  private static final System.Logger LOG = System.getLogger(CoalescedTask.class.getName());

  private final String name;
  private final Executor executor;
  private final Runnable run;
  private final Runnable rejected;
  private final AtomicInteger requests =
      new AtomicInteger(); // the thread that raises it from 0 starts a run

  /**
   * @param name for the log, as in "a run of … failed"
   * @param rejected runs in place of {@code task} when the executor rejects it, never at the same
   *     time as {@code task}
   */
  public CoalescedTask(String name, Executor executor, Runnable task, Runnable rejected) {
    this.name = name;
    this.executor = executor;
    this.run = () -> answerAll(task);
    this.rejected = rejected;
  }

  /**
   * Ensures that a run starts after this call.
   *
   * @return false when the executor rejected the run. True is no guarantee when another thread's
   *     request is being rejected at the same moment: that rejection answers this request too.
   */
  public boolean request() {
    if (requests.getAndIncrement() != 0) {
      return true;
    }
    boolean accepted = false;
    try {
      executor.execute(run);
      accepted = true;
    } catch (RejectedExecutionException _) {
      // the returned value reports it
    } finally {
      if (!accepted) {
        answerAll(rejected);
      }
    }
    return accepted;
  }

  private void answerAll(Runnable by) {
    int answered = requests.get();
    while (answered != 0) {
      try {
        by.run();
      } catch (RuntimeException | Error e) {
        LOG.log(Level.ERROR, "a run of " + name + " failed; the next request starts another", e);
      }
      answered = requests.addAndGet(-answered);
    }
  }
}
