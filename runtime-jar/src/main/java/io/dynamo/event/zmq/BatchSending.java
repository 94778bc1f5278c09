package io.dynamo.event.zmq;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hands queued items to a sender on an event loop, in order and in batches: before the next batch
 * the loop serves its other sockets, which is what sets this apart from a {@link
 * io.dynamo.concurrent.CoalescedTask}. Any thread may add items and close; none waits.
 */
final class BatchSending<E> {
  /** Receives items; called by the loop only. */
  interface Sender<E> {
    /** Takes an item; returns its bytes. */
    int send(E item);

    /** Takes an item that was added after the end. */
    void drop(E item);

    /** Called after each batch. */
    void flush();

    /** Called once, when this is closed and all that was added before has been sent. */
    void end();
  }

  private final Executor loop;
  private final Executor later;
  private final int batch;
  private final int batchBytes;
  private final Sender<E> sender;
  private final Queue<E> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting =
      new AtomicInteger(); // the thread that raises it from 0 starts the sending
  private volatile boolean closed;
  private boolean ended; // by the loop

  /**
   * @param loop runs tasks one at a time
   * @param later runs a task of the loop after those that wait already
   * @param batch items after which the loop serves others
   * @param batchBytes likewise
   */
  BatchSending(Executor loop, Executor later, int batch, int batchBytes, Sender<E> sender) {
    this.loop = loop;
    this.later = later;
    this.batch = batch;
    this.batchBytes = batchBytes;
    this.sender = sender;
  }

  void add(E item) {
    queue.add(item);
    if (waiting.getAndIncrement() == 0) {
      loop.execute(this::send);
    }
  }

  private void send() {
    int sent = 0;
    long bytes = 0;
    while (sent < batch && bytes < batchBytes) {
      var item = queue.poll();
      if (item == null) {
        break;
      }
      sent++;
      if (ended) {
        sender.drop(item);
      } else {
        bytes += sender.send(item);
      }
    }
    if (!ended) {
      sender.flush();
    }
    if (waiting.addAndGet(-sent) > 0) {
      later.execute(this::send);
    } else if (closed) {
      end();
    }
  }

  /** Ends the sending behind what was added before; items that come later are dropped. */
  void close() {
    closed = true;
    loop.execute(
        () -> {
          // below 0 while an item that was sent is not counted yet; else the last batch ends it
          if (waiting.get() <= 0) {
            end();
          }
        });
  }

  private void end() {
    if (!ended) {
      ended = true;
      sender.end();
    }
  }
}
