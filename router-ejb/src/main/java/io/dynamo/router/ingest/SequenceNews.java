package io.dynamo.router.ingest;

import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.codec.SequenceEventCodec;
import io.dynamo.metrics.Metrics.Counter;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tells other routers what becomes of the requests that this one places. Events leave in batches,
 * by one task of the executor at a time; those that find the queue full are dropped and counted.
 * Safe for concurrent use; never blocks a decision.
 */
final class SequenceNews implements AutoCloseable {
  /** Dynamo's bounds. */
  static final int WAITING = 100_000;

  static final int BATCH = 256;

  private static final System.Logger LOG = System.getLogger(SequenceNews.class.getName());

  private final EventSubject subject;
  private final Executor executor;
  private final Counter dropped;
  private final BlockingQueue<SequenceEvent> waiting = new LinkedBlockingQueue<>(WAITING);
  private final AtomicInteger work = new AtomicInteger(); // sending passes owed
  private final EventPlane.Publisher publisher; // guarded by this, like what follows
  private boolean failing;
  private boolean closed;

  /**
   * @param executor encodes and sends
   * @param dropped counts events that were not published
   */
  SequenceNews(EventPlane plane, EventSubject subject, Executor executor, Counter dropped) {
    this.subject = subject;
    this.executor = executor;
    this.dropped = dropped;
    this.publisher = plane.publisher(subject);
  }

  void tell(SequenceEvent event) {
    if (!waiting.offer(event)) {
      dropped.increment();
      return;
    }
    if (work.getAndIncrement() == 0) {
      try {
        executor.execute(this::send);
      } catch (RejectedExecutionException stopped) {
        work.set(0); // the router stops; the others see its publisher go
      }
    }
  }

  private void send() {
    int passes = 1;
    var batch = new ArrayList<SequenceEvent>();
    do {
      while (waiting.drainTo(batch, BATCH) > 0) {
        publish(batch);
        batch.clear();
      }
      passes = work.addAndGet(-passes);
    } while (passes != 0);
  }

  private synchronized void publish(List<SequenceEvent> batch) {
    if (closed) {
      return;
    }
    try {
      publisher.publish(SequenceEventCodec.encode(batch));
      if (failing) {
        failing = false;
        LOG.log(Level.INFO, "placed requests are published again on {0}", subject);
      }
    } catch (RuntimeException | Error failure) {
      dropped.add(batch.size());
      if (!failing) {
        failing = true;
        LOG.log(Level.WARNING, "placed requests cannot be published on " + subject, failure);
      }
    }
  }

  /** Tells nothing from now on. Idempotent. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      publisher.close();
    }
  }
}
