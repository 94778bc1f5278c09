package io.dynamo.frontend.batches;

import io.dynamo.concurrent.Deadline;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Finds batches that nobody runs, and runs a bounded number of them. Three tasks have a virtual
 * thread each, so that none waits for another: one looks for batches, one renews the claims on
 * those that run, one deletes what is too old. Safe for concurrent use.
 */
public final class BatchRunner implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(BatchRunner.class.getName());
  private static final Duration PERIOD = Duration.ofSeconds(10);
  private static final Duration SWEEP = Duration.ofMinutes(1);
  private static final Duration LAST_WORK = Duration.ofSeconds(10);

  private final BatchStore store;
  private final BatchRun.Shared shared;
  private final ConcurrentMap<String, BatchRun> running = new ConcurrentHashMap<>();
  private final RepeatedTask finding;
  private final RepeatedTask renewing;
  private final RepeatedTask deleting;

  public BatchRunner(BatchStore store, BatchLines lines, Metrics metrics) {
    int most = store.settings().concurrency();
    this.store = store;
    var turns = new LineTurns(store.files()::isFull, lines, most, System::nanoTime);
    this.shared = new BatchRun.Shared(store, lines, metrics, turns, most);
    this.finding = new RepeatedTask("dynamo-batches", PERIOD, this::claimMore);
    this.renewing = new RepeatedTask("dynamo-batches-claims", PERIOD, this::renewClaims);
    this.deleting = new RepeatedTask("dynamo-batches-sweep", SWEEP, store::deleteExpired);
    metrics.gauge(BatchMetrics.RUNNING, running::size);
    metrics.counter(BatchMetrics.RETRIES);
    for (var outcome : List.of("completed", "failed", "expired")) {
      metrics.counter(BatchMetrics.LINES, new Label("outcome", outcome));
    }
  }

  /** Starts to run batches, unless they are switched off. Called once. */
  public void start() {
    if (store.isOn()) {
      tasks().forEach(RepeatedTask::start);
    }
  }

  private List<RepeatedTask> tasks() {
    return List.of(finding, renewing, deleting);
  }

  /** Says that a batch was created or is to be cancelled, so that it need not wait to be found. */
  public void wake() {
    finding.wake();
    renewing.wake();
  }

  private void renewClaims() throws InterruptedException {
    var runs = List.copyOf(running.values());
    if (runs.isEmpty()) {
      return;
    }
    long begun = System.nanoTime();
    try {
      var kept = store.claims().renew(runs.stream().map(BatchRun::progress).toList());
      runs.forEach(run -> renewed(run, kept, begun));
    } finally {
      runs.stream().filter(BatchRun::mayBeLost).forEach(run -> run.stop().lose());
    }
  }

  private static void renewed(BatchRun run, Map<String, BatchStatus> kept, long begunNanos) {
    var status = kept.get(run.id());
    if (status == null) {
      run.stop().lose(); // has ended, or another frontend has it
      return;
    }
    run.setRenewed(begunNanos);
    if (status == BatchStatus.CANCELLING) {
      run.stop().cancel();
    }
  }

  private void claimMore() throws InterruptedException {
    int most = store.settings().running();
    if (running.size() >= most) {
      return;
    }
    for (var id : store.claims().claimable(2 * most)) {
      if (finding.isStopped() || running.size() >= most) {
        return;
      }
      if (running.containsKey(id)) {
        continue;
      }
      long begun = System.nanoTime();
      var claim = store.claims().claim(id);
      if (claim.isPresent()) {
        var run = new BatchRun(shared, claim.get(), begun, this::over);
        running.put(id, run);
        run.start();
      }
    }
  }

  private void over(BatchRun run) {
    running.remove(run.id(), run);
    if (!run.isFaulty()) {
      finding.wake(); // there is room for another
    }
  }

  /**
   * Ends all runs within a few seconds; their batches go on when this or another frontend starts.
   * Idempotent.
   */
  @Override
  public synchronized void close() {
    var deadline = Deadline.after(LAST_WORK);
    tasks().forEach(RepeatedTask::stop);
    try {
      for (var task : tasks()) {
        warnUnless(task.await(left(deadline)), "a task of batches");
      }
      var runs = List.copyOf(running.values());
      runs.forEach(BatchRun::leave);
      for (var run : runs) {
        warnUnless(run.await(left(deadline)), "a batch");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Duration left(Deadline deadline) {
    return Duration.ofNanos(Math.max(1, deadline.remainingNanos()));
  }

  private static void warnUnless(boolean ended, String what) {
    if (!ended) {
      LOG.log(Level.WARNING, "{0} did not end within {1}", what, LAST_WORK);
    }
  }
}
