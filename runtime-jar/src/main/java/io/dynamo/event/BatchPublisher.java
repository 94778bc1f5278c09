package io.dynamo.event;

import io.dynamo.concurrent.CoalescedTask;
import io.dynamo.metrics.Metrics.Counter;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;

/**
 * Publishes items of threads that must not wait. Items are sent in order and in batches, by one
 * task of the executor at a time; items that find the queue full, or cannot be published, are
 * dropped and counted. Safe for concurrent use.
 */
public final class BatchPublisher<T> implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(BatchPublisher.class.getName());

  private final EventSubject subject;
  private final int batch;
  private final Function<List<T>, byte[]> encoder;
  private final Counter dropped;
  private final BlockingQueue<T> waiting;
  private final CoalescedTask sending;
  private final EventPlane.Publisher publisher; // guarded by this, like the fields below
  private boolean failing;
  private boolean closed;

  /**
   * @param capacity limit of the queued items
   * @param batch limit of the items in one message
   * @param encoder called by one thread at a time, in the order of the messages
   * @param executor runs encoding and sending
   * @param dropped counts items that were not published
   */
  public BatchPublisher(
      EventPlane plane,
      EventSubject subject,
      int capacity,
      int batch,
      Function<List<T>, byte[]> encoder,
      Executor executor,
      Counter dropped) {
    this.subject = subject;
    this.batch = batch;
    this.encoder = encoder;
    this.dropped = dropped;
    this.waiting = new LinkedBlockingQueue<>(capacity);
    this.publisher = plane.publisher(subject);
    this.sending =
        new CoalescedTask(
            "the publisher of " + subject,
            executor,
            this::send,
            () -> {}); // the process stops; subscribers see the publisher leave
  }

  /** Queues {@code one}; never blocks. */
  public void add(T one) {
    if (!waiting.offer(one)) {
      dropped.increment();
      return;
    }
    sending.request();
  }

  private void send() {
    var next = new ArrayList<T>();
    while (waiting.drainTo(next, batch) > 0) {
      publish(next);
      next.clear();
    }
  }

  private synchronized void publish(List<T> next) {
    if (closed) {
      return;
    }
    try {
      publisher.publish(encoder.apply(next));
      if (failing) {
        failing = false;
        LOG.log(Level.INFO, "{0} is published again", subject);
      }
    } catch (RuntimeException | Error failure) {
      dropped.add(next.size());
      if (!failing) {
        failing = true;
        LOG.log(Level.WARNING, subject + " cannot be published", failure);
      }
    }
  }

  /** Stops publishing. Idempotent. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      publisher.close();
    }
  }
}
