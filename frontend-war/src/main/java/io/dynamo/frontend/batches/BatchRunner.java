package io.dynamo.frontend.batches;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiException;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Finds batches that nobody runs, and runs a bounded number of them, each on a virtual thread. All
 * of them share one bounded number of requests. A thread of its own looks for batches, keeps the
 * claims on those that run, and deletes what is too old; it alone touches {@link #running} beside
 * the runs that end. Safe for concurrent use.
 */
public final class BatchRunner implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(BatchRunner.class.getName());
  private static final Duration PERIOD = Duration.ofSeconds(10);
  private static final long SWEEP_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final Duration LAST_WORK = Duration.ofSeconds(5);

  private final BatchStore store;
  private final BatchLines lines;
  private final Metrics metrics;
  private final Semaphore requests;
  private final ConcurrentMap<String, BatchRun> running = new ConcurrentHashMap<>();
  private final Semaphore news = new Semaphore(0);
  private final Thread thread;
  private volatile boolean closed;
  private long sweepNanos = System.nanoTime();

  public BatchRunner(BatchStore store, BatchLines lines, Metrics metrics) {
    this.store = store;
    this.lines = lines;
    this.metrics = metrics;
    this.requests = new Semaphore(store.settings().concurrency(), true);
    this.thread = Thread.ofVirtual().name("dynamo-batches").unstarted(this::work);
    metrics.gauge(BatchMetrics.RUNNING, running::size);
    metrics.counter(BatchMetrics.RETRIES);
    for (var outcome : List.of("completed", "failed", "expired")) {
      metrics.counter(BatchMetrics.LINES, new Label("outcome", outcome));
    }
  }

  /** Starts to run batches, unless they are switched off. Called once. */
  public synchronized void start() {
    if (store.isOn()) {
      thread.start();
    }
  }

  /** Says that a batch was created or is to be cancelled, so that it need not wait to be found. */
  public void wake() {
    if (news.availablePermits() == 0) {
      news.release();
    }
  }

  private void work() {
    try {
      while (!closed) {
        try {
          keepClaims();
          claimMore();
          if (System.nanoTime() - sweepNanos >= 0) {
            sweepNanos = System.nanoTime() + SWEEP_NANOS;
            store.deleteExpired();
          }
        } catch (ApiException e) {
          LOG.log(Level.DEBUG, "batches wait for their database", FailureShape.of(e));
        } catch (RuntimeException e) {
          LOG.log(Level.ERROR, "batches could not be looked after", FailureShape.of(e));
        }
        if (news.tryAcquire(PERIOD.toMillis(), TimeUnit.MILLISECONDS)) {
          news.drainPermits();
        }
      }
    } catch (InterruptedException e) {
      LOG.log(Level.DEBUG, "batches end with the server");
    }
  }

  private void keepClaims() throws InterruptedException {
    for (var run : List.copyOf(running.values())) {
      run.report();
      var batch = store.claim(run.id());
      if (batch.isEmpty()) {
        run.stop(BatchRun.Stop.LOST); // has ended, or another frontend has it
      } else if (batch.get().status() == BatchStatus.CANCELLING) {
        run.stop(BatchRun.Stop.CANCELLED);
      }
    }
  }

  private void claimMore() throws InterruptedException {
    int most = store.settings().running();
    if (running.size() >= most) {
      return;
    }
    for (var id : store.claimable(2 * most)) {
      if (closed || running.size() >= most) {
        return;
      }
      if (running.containsKey(id)) {
        continue;
      }
      var batch = store.claim(id);
      if (batch.isPresent()) {
        var run = new BatchRun(store, lines, metrics, requests, batch.get(), this::over);
        running.put(id, run);
        run.start();
      }
    }
  }

  private void over(BatchRun run) {
    running.remove(run.id(), run);
    if (!run.isFaulty()) {
      wake(); // there is room for another
    }
  }

  /** Ends all runs; their batches go on when this or another frontend starts. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    if (thread.getState() == Thread.State.NEW) {
      return;
    }
    thread.interrupt();
    try {
      if (!thread.join(LAST_WORK)) {
        LOG.log(Level.WARNING, "the thread of batches did not end within {0}", LAST_WORK);
      }
      for (var run : List.copyOf(running.values())) {
        run.stop(BatchRun.Stop.LEFT);
      }
      for (var run : List.copyOf(running.values())) {
        if (!run.await(LAST_WORK)) {
          LOG.log(Level.WARNING, "a batch did not stop within {0}", LAST_WORK);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
