package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A transfer client without native code: a daemon thread of its own that copies one batch after the
 * other through {@link HostMemory#copy}. Safe for concurrent use.
 *
 * <p>A batch is one step: a cancellation or a deadline ends it before that step or not at all.
 */
public final class JavaTransferClient implements TransferClient {
  /** How many batches may wait. */
  static final int CAPACITY = 4096;

  private record Job(
      long ticket,
      Transfer transfer,
      Region source,
      Region target,
      CopyBatch batch,
      Deadline deadline) {}

  private final HostMemory memory;
  private final Map<Priority, ArrayDeque<Job>> waiting = new EnumMap<>(Priority.class);
  private final Thread thread;
  private long nextTicket = 1; // guarded by this, like the queues and all below
  private int size; // waiting and running
  private boolean closed;
  private long completed;
  private long failed;
  private long bytes;

  /**
   * @param memory whose regions are copied
   */
  public JavaTransferClient(HostMemory memory) {
    this.memory = memory;
    for (var priority : Priority.values()) {
      waiting.put(priority, new ArrayDeque<>());
    }
    this.thread = Thread.ofPlatform().daemon().name("transfer-java").start(this::run);
  }

  @Override
  public String kind() {
    return "java";
  }

  @Override
  public int capacity() {
    return CAPACITY;
  }

  @Override
  public Transfer copy(
      BlockRegion source,
      BlockRegion target,
      CopyBatch batch,
      Priority priority,
      Deadline deadline) {
    if (source instanceof Region from && target instanceof Region to) {
      return enqueue(from, to, batch, priority, deadline);
    }
    var refused = new Transfer(() -> {});
    refused.fail(new IllegalArgumentException("a region of another memory"));
    return refused;
  }

  private synchronized Transfer enqueue(
      Region source, Region target, CopyBatch batch, Priority priority, Deadline deadline) {
    if (closed) {
      throw new IllegalStateException("the transfer client is closed");
    }
    if (size >= CAPACITY) {
      throw new TransferBusyException(CAPACITY);
    }
    var queue = queue(priority);
    long ticket = nextTicket++;
    var transfer = new Transfer(() -> cancel(ticket));
    queue.add(new Job(ticket, transfer, source, target, batch, deadline));
    size++;
    notifyAll();
    return transfer;
  }

  private ArrayDeque<Job> queue(Priority priority) {
    return Objects.requireNonNull(waiting.get(priority));
  }

  private void cancel(long ticket) {
    var found = takeWaiting(ticket);
    if (found != null) {
      found.transfer.fail(cancelled());
    }
  }

  private synchronized @Nullable Job takeWaiting(long ticket) {
    for (var queue : waiting.values()) {
      for (var job : queue) {
        if (job.ticket == ticket) {
          queue.remove(job);
          size--;
          failed++;
          return job;
        }
      }
    }
    return null;
  }

  private static CancelledException cancelled() {
    return new CancelledException("the transfer was cancelled");
  }

  private void run() {
    try {
      for (var job = next(); job != null; job = next()) {
        end(job);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized @Nullable Job next() throws InterruptedException {
    while (true) {
      for (var priority : Priority.values()) {
        var job = queue(priority).poll();
        if (job != null) {
          return job;
        }
      }
      if (closed) {
        return null;
      }
      wait();
    }
  }

  private void end(Job job) {
    RuntimeException failure = null;
    long moved = 0;
    if (job.deadline.isExpired()) {
      failure =
          new DeadlineExceededException("the deadline of the transfer passed before its turn");
    } else {
      try {
        memory.copy(job.source, job.target, job.batch);
        for (int i = 0; i < job.batch.count(); i++) {
          moved += job.batch.length(i);
        }
      } catch (RuntimeException thrown) {
        failure = thrown;
      } catch (Error thrown) {
        failure = new TransferFailedException(Reason.BACKEND, "the copy failed: " + thrown, thrown);
      }
    }
    synchronized (this) {
      size--;
      bytes += moved;
      completed += failure == null ? 1 : 0;
      failed += failure == null ? 0 : 1;
    }
    if (failure == null) {
      job.transfer.complete(moved);
    } else {
      job.transfer.fail(failure);
    }
  }

  @Override
  public synchronized Counts counts() {
    return new Counts(completed, failed, bytes);
  }

  @Override
  public void close() {
    var left = new ArrayDeque<Job>();
    synchronized (this) {
      closed = true;
      for (var queue : waiting.values()) {
        left.addAll(queue);
        queue.clear();
      }
      size -= left.size();
      failed += left.size();
      notifyAll();
    }
    left.forEach(job -> job.transfer.fail(cancelled()));
    boolean interrupted = false;
    while (thread.isAlive() && !thread.equals(Thread.currentThread())) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
