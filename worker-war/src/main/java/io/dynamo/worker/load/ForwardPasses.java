package io.dynamo.worker.load;

import io.dynamo.concurrent.Alarms;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.ForwardPass;
import io.dynamo.kv.WorkerRank;
import io.dynamo.kv.codec.ForwardPassCodec;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.worker.engine.PassReport;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Tells planners of every pass of the engine, and once per {@link #HEARTBEAT} that a rank without
 * any is alive. The engine's thread puts a pass in a queue; one task of the executor at a time
 * encodes and sends. Passes that find the queue full are dropped and counted. Safe for concurrent
 * use.
 */
public final class ForwardPasses implements AutoCloseable {
  static final Duration HEARTBEAT = Duration.ofSeconds(1);
  static final int WAITING = 4096;

  private static final System.Logger LOG = System.getLogger(ForwardPasses.class.getName());

  private record Passed(int rank, ForwardPass pass) {}

  private final InstanceId worker;
  private final PassReport report;
  private final Executor executor;
  private final Alarms alarms;
  private final Counter dropped;
  private final BlockingQueue<Passed> waiting = new ArrayBlockingQueue<>(WAITING);
  private final AtomicInteger work = new AtomicInteger(); // sending passes owed
  private final EventPlane.Publisher publisher; // guarded by this, like what follows
  private final long[] counters; // told so far, by rank
  private final boolean[] toldSinceLook;
  private Alarms.@Nullable Alarm next;
  private boolean failing;
  private boolean closed;

  /**
   * @param ranks how many the engine has
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
    this.executor = executor;
    this.dropped = dropped;
    this.counters = new long[ranks];
    this.toldSinceLook = new boolean[ranks];
    this.publisher = plane.publisher(new EventSubject(endpoint, ForwardPass.TOPIC));
  }

  /** Begins to tell; once the engine has started. Idempotent. */
  public synchronized void start() {
    if (next == null && !closed) {
      report.tellPasses(this::add);
      look();
    }
  }

  private void add(int rank, ForwardPass pass) {
    if (!waiting.offer(new Passed(rank, pass))) {
      dropped.increment();
      return;
    }
    if (work.getAndIncrement() == 0) {
      try {
        executor.execute(this::send);
      } catch (RejectedExecutionException stopped) {
        work.set(0); // the worker stops; what waits is of no use to anybody
      }
    }
  }

  private void send() {
    int passes = 1;
    do {
      for (var passed = waiting.poll(); passed != null; passed = waiting.poll()) {
        tell(passed);
      }
      passes = work.addAndGet(-passes);
    } while (passes != 0);
  }

  private synchronized void tell(Passed passed) {
    toldSinceLook[passed.rank] = true;
    publish(passed.rank, passed.pass);
  }

  private synchronized void look() {
    if (closed) {
      return;
    }
    for (int rank = 0; rank < counters.length; rank++) {
      if (!toldSinceLook[rank]) {
        publish(rank, ForwardPass.IDLE);
      }
      toldSinceLook[rank] = false;
    }
    next = alarms.after(HEARTBEAT, this::look);
  }

  private void publish(int rank, ForwardPass pass) { // holds this
    if (closed) {
      return;
    }
    try {
      var told = ++counters[rank];
      publisher.publish(ForwardPassCodec.encode(new WorkerRank(worker, rank), told, pass));
      if (failing) {
        failing = false;
        LOG.log(Level.INFO, "forward passes of worker {0} are published again", worker);
      }
    } catch (RuntimeException | Error failure) {
      dropped.increment();
      if (!failing) {
        failing = true;
        LOG.log(
            Level.WARNING, "forward passes of worker " + worker + " cannot be published", failure);
      }
    }
  }

  /** Tells nothing from now on. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (next != null) {
      next.cancel();
    }
    publisher.close();
  }
}
