package io.dynamo.frontend.record;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Sends records to a server on a thread of its own, so that a slow one delays no other outlet. A
 * batch is tried a few times; meanwhile records wait in a bounded queue, and are lost and counted
 * beyond it.
 */
final class RemoteOutlet implements RecordOutlet {
  private static final System.Logger LOG = System.getLogger(RemoteOutlet.class.getName());
  private static final int ATTEMPTS = 3;
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LEAST_BYTES = 8 << 20; // that may wait
  private static final Duration INTERRUPTED = Duration.ofSeconds(1); // until a thread has ended
  private static final byte[] WAKE = {};

  /** The patience of an outlet. */
  record Patience(Duration betweenAttempts, Duration lastRecords) {
    static final Patience STANDARD = new Patience(Duration.ofSeconds(1), Duration.ofSeconds(3));
  }

  private final String name;
  private final Destination destination;
  private final Patience patience;
  private final BlockingQueue<byte[]> waiting;
  private final AtomicLong waitingBytes = new AtomicLong(); // and of the batch that is being sent
  private final long maxBytes;
  private final Metrics.Counter written;
  private final Metrics.Counter lost;
  private final CountDownLatch ending = new CountDownLatch(1);
  private volatile long endNanos; // since when the last records are sent; set before ending
  private final Thread sender;
  private boolean failed; // by the sender only

  /**
   * @param capacity records that may wait
   */
  RemoteOutlet(
      String name, Destination destination, int capacity, Patience patience, Metrics metrics) {
    this.name = name;
    this.destination = destination;
    this.patience = patience;
    this.waiting = new ArrayBlockingQueue<>(capacity + 1);
    this.maxBytes = Math.max(LEAST_BYTES, 2 * destination.batch().bytes());
    this.written = metrics.counter(RecordMetrics.WRITTEN, new Label("sink", name));
    this.lost = metrics.counter(RecordMetrics.LOST, new Label("sink", name));
    this.sender =
        Thread.ofPlatform().name("dynamo-request-trace-" + name).daemon().unstarted(this::run);
    sender.start();
  }

  @Override
  public void write(TraceRecord record, byte[] json) {
    var entry = destination.entry(record, json);
    if (entry == null || isEnding()) {
      lost.increment();
      return;
    }
    long before =
        waitingBytes.getAndAdd(entry.length); // a single one may be larger than all may be
    if ((before > 0 && before + entry.length > maxBytes) || !waiting.offer(entry)) {
      waitingBytes.addAndGet(-entry.length);
      lost.increment();
    }
  }

  private boolean isEnding() {
    return ending.getCount() == 0;
  }

  @Override
  public void flush() {}

  private void run() {
    try (destination) {
      for (var batch = gather(); !batch.isEmpty(); batch = gather()) {
        try {
          deliver(batch);
        } finally {
          waitingBytes.addAndGet(-bytes(batch));
          batch.clear(); // the next one is gathered for a long time
        }
      }
    } catch (InterruptedException e) { // by close, of a server that hangs
      lost.add(waiting.stream().filter(entry -> entry.length > 0).count());
      waiting.clear();
    }
  }

  private static long bytes(List<byte[]> batch) {
    return batch.stream().mapToLong(entry -> entry.length).sum();
  }

  /** Waits for a batch; empty at the end. */
  private List<byte[]> gather() throws InterruptedException {
    var batch = new ArrayList<byte[]>();
    var bounds = destination.batch();
    long bytes = 0;
    long until = 0;
    while (bytes < bounds.bytes()) {
      long wait = batch.isEmpty() ? LOOK_NANOS : Math.max(0, until - System.nanoTime());
      var next = waiting.poll(isEnding() ? 0 : wait, TimeUnit.NANOSECONDS);
      if (next != null && next.length > 0) {
        if (batch.isEmpty()) {
          until = System.nanoTime() + bounds.gathering().toNanos();
        }
        batch.add(next);
        bytes += next.length;
      } else if (next == null && (isEnding() || !batch.isEmpty())) {
        break;
      }
    }
    return batch;
  }

  private void deliver(List<byte[]> batch) throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      Throwable cause;
      try {
        int gone = destination.send(batch);
        written.add(batch.size() - gone);
        lost.add(gone);
        report(gone == 0 ? null : gone + " of " + batch.size() + " were not taken");
        return;
      } catch (IOException | RuntimeException | Error e) { // no failure ends the thread
        cause = e;
      } catch (InterruptedException e) {
        lost.add(batch.size());
        throw e;
      }
      if (attempt == ATTEMPTS) {
        lost.add(batch.size());
        report(cause.toString());
        return;
      }
      boolean _ = ending.await(patience.betweenAttempts().toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  /** Logs the first failure after a success, and the first success after failures. */
  private void report(@Nullable String failure) {
    if (failure != null && !failed) {
      LOG.log(
          Level.WARNING,
          "records of requests are lost, since the sink {0} does not take them; further losses are"
              + " only counted: {1}",
          name,
          failure);
    } else if (failure == null && failed) {
      LOG.log(Level.INFO, "records of requests are taken again by {0}", name);
    }
    failed = failure != null;
  }

  @Override
  public void end() {
    if (!isEnding()) {
      endNanos = System.nanoTime();
      ending.countDown();
    }
    boolean _ = waiting.offer(WAKE); // a full queue wakes it too
  }

  @Override
  public void close() {
    end();
    try {
      var left = patience.lastRecords().minusNanos(System.nanoTime() - endNanos);
      if (!left.isPositive() ? sender.isAlive() : !sender.join(left)) {
        LOG.log(
            Level.WARNING,
            "the sink {0} has not taken the last records of requests within {1}",
            name,
            patience.lastRecords());
        sender.interrupt();
        boolean _ = sender.join(INTERRUPTED);
      }
    } catch (InterruptedException e) {
      sender.interrupt();
      Thread.currentThread().interrupt();
    }
  }
}
