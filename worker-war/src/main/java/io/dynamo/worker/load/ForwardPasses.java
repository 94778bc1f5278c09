package io.dynamo.worker.load;

import io.dynamo.concurrent.Alarms;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.BatchPublisher;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.ForwardPass;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.wire.kv.ForwardPassCodec;
import io.dynamo.worker.engine.PassReport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Reports every pass of the engine to planners, and once per {@link #HEARTBEAT} a heartbeat of each
 * rank without any. Safe for concurrent use; never blocks the engine.
 */
public final class ForwardPasses implements AutoCloseable {
  static final Duration HEARTBEAT = Duration.ofSeconds(1);
  static final int WAITING = 4096;

  private record Passed(int rank, ForwardPass pass) {}

  private final InstanceId worker;
  private final PassReport report;
  private final Alarms alarms;
  private final BatchPublisher<Passed> passes;
  private final long[] counters; // passes encoded so far, by rank
  private final AtomicIntegerArray
      reportedSinceCheck; // 1 where a rank had a pass since the last look
  private Alarms.@Nullable Alarm next; // guarded by this, like the next
  private boolean closed;

  /**
   * @param ranks the engine's number of ranks
   * @param executor encodes and sends
   * @param dropped counts passes that were not published
   */
  public ForwardPasses(
      EventPlane plane,
      EndpointId endpoint,
      InstanceId worker,
      int ranks,
      PassReport report,
      Alarms alarms,
      Executor executor,
      Counter dropped) {
    this.worker = worker;
    this.report = report;
    this.alarms = alarms;
    this.counters = new long[ranks];
    this.reportedSinceCheck = new AtomicIntegerArray(ranks);
    this.passes =
        new BatchPublisher<>(
            plane,
            new EventSubject(endpoint, ForwardPass.TOPIC),
            WAITING,
            1,
            this::encode,
            executor,
            dropped);
  }

  /** Starts reporting; called once the engine has started. Idempotent. */
  public synchronized void start() {
    if (next == null && !closed) {
      report.reportPassesTo(this::add);
      look();
    }
  }

  private void add(int rank, ForwardPass pass) {
    reportedSinceCheck.set(rank, 1);
    passes.add(new Passed(rank, pass));
  }

  private synchronized void look() {
    if (closed) {
      return;
    }
    for (int rank = 0; rank < counters.length; rank++) {
      if (reportedSinceCheck.getAndSet(rank, 0) == 0) {
        passes.add(new Passed(rank, ForwardPass.IDLE));
      }
    }
    next = alarms.after(HEARTBEAT, this::look);
  }

  private byte[] encode(List<Passed> one) {
    var passed = one.getFirst();
    long number = ++counters[passed.rank];
    return ForwardPassCodec.encode(new WorkerRank(worker, passed.rank), number, passed.pass);
  }

  /** Stops reporting. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    if (next != null) {
      next.cancel();
    }
    passes.close();
  }
}
