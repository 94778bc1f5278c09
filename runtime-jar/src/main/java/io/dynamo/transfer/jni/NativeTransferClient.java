package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.TransferRings;
import io.dynamo.natives.TransferThread;
import io.dynamo.transfer.BlockRegion;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.PartedCopy;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferBusyException;
import io.dynamo.transfer.TransferClient;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The transfer client of the native library: batches go to its thread through a ring, and a daemon
 * thread of this client ends them as completions come back. Safe for concurrent use.
 *
 * <p>A platform thread waits for completions, since a native frame pins the carrier of a virtual
 * one.
 */
final class NativeTransferClient implements TransferClient {
  private static final System.Logger LOG = System.getLogger(NativeTransferClient.class.getName());
  private static final int SUBMIT_BYTES = 1 << 20;
  private static final int CAPACITY = 4096;
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos(); // re-checks that often
  private static final long DRAIN_NANOS = Duration.ofSeconds(1).toNanos();
  private static final Duration POLLER_END = Duration.ofSeconds(5);

  private record Pending(Transfer transfer, CopyBatch batch, long sourceBytes, long targetBytes) {}

  private final NativeHostMemory memory;
  private final TransferRings rings = new TransferRings(SUBMIT_BYTES, CAPACITY);
  private final long thread;
  private final Thread poller;
  private final Map<Long, Pending> pending = new ConcurrentHashMap<>(); // by ticket
  private final ReentrantLock submitting = new ReentrantLock();
  private long nextTicket = 1; // guarded by submitting
  private volatile boolean closed; // written under submitting
  private volatile Counts last = new Counts(0, 0, 0);

  NativeTransferClient(NativeHostMemory memory, NativeFaults faults) {
    this.memory = memory;
    this.thread = TransferThread.open(rings.submissions(), rings.completions(), faults.toArray());
    if (thread < 0) {
      throw new IllegalStateException(
          "the native library opened no transfer thread: " + NativeStatus.of(thread));
    }
    if (!faults.isEmpty()) {
      LOG.log(Level.WARNING, "a transfer thread has faults: some of its transfers go wrong");
    }
    var waiting = Thread.ofPlatform().daemon().name("transfer-completions").unstarted(this::poll);
    try {
      waiting.start();
    } catch (Error noThread) {
      TransferThread.close(thread, 0);
      throw noThread;
    }
    this.poller = waiting;
  }

  @Override
  public String kind() {
    return "native";
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
    long from;
    long to;
    try {
      from = memory.handle(source);
      to = memory.handle(target);
    } catch (IllegalArgumentException foreign) {
      var refused = new Transfer(() -> {});
      refused.fail(foreign);
      return refused;
    }
    if (batch.count() > rings.maxRanges()) {
      return PartedCopy.start(this, source, target, batch, priority, deadline, rings.maxRanges());
    }
    submitting.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the transfer client is closed");
      }
      if (pending.size() >= CAPACITY) {
        throw new TransferBusyException(CAPACITY);
      }
      long ticket = nextTicket++;
      var transfer = new Transfer(() -> cancel(ticket));
      pending.put(ticket, new Pending(transfer, batch, source.byteSize(), target.byteSize()));
      boolean taken = false;
      try {
        taken =
            rings.offer(
                ticket,
                priority == Priority.ONBOARD,
                from,
                to,
                deadline.nanoTime(),
                batch.toArray());
      } finally {
        if (!taken) {
          pending.remove(ticket);
        }
      }
      if (!taken) {
        throw new TransferBusyException(CAPACITY);
      }
      if (rings.wantsKick()) {
        TransferThread.kick(thread);
      }
      return transfer;
    } finally {
      submitting.unlock();
    }
  }

  private void cancel(long ticket) {
    if (pending.containsKey(ticket)) {
      TransferThread.cancel(thread, ticket);
    }
  }

  private void poll() {
    var status = NativeStatus.BACKEND; // unless it ends as it should
    try {
      status = follow();
    } catch (RuntimeException | Error failure) {
      LOG.log(Level.ERROR, "the thread of native completions failed", failure);
    } finally {
      endAll(status);
    }
  }

  /** Hands completions over until the native thread has ended, and returns how it did. */
  private NativeStatus follow() {
    var status = NativeStatus.OK;
    while (status == NativeStatus.OK) {
      status = NativeStatus.of(TransferThread.await(thread, LOOK_NANOS));
      rings.drain(this::completed);
    }
    return status;
  }

  /** Refuses further batches, and ends those whose completion will not come. */
  private void endAll(NativeStatus status) {
    submitting.lock();
    try {
      closed = true;
    } finally {
      submitting.unlock();
    }
    if (status != NativeStatus.STALE) {
      LOG.log(Level.ERROR, "the native transfer thread failed: {0}; transfers are refused", status);
    }
    try {
      rings.drain(this::completed);
    } finally {
      for (var ticket : pending.keySet()) {
        completed(ticket, code(status), 0, 0);
      }
    }
  }

  private static int code(NativeStatus status) {
    return status == NativeStatus.STALE ? NativeStatus.CANCELLED.code() : status.code();
  }

  private void completed(long ticket, int code, long bytes, long micros) {
    var one = pending.remove(ticket);
    if (one == null) {
      return;
    }
    if (code == 0) {
      one.transfer.complete(bytes);
    } else {
      one.transfer.fail(failure(NativeStatus.of(code), one));
    }
  }

  private static RuntimeException failure(NativeStatus status, Pending one) {
    return switch (status) {
      case CANCELLED -> new CancelledException("the transfer was cancelled");
      case TIMEOUT -> new DeadlineExceededException("the deadline of the transfer passed");
      case STALE -> new IllegalStateException("the region is closed");
      case INVALID -> new IllegalArgumentException("ranges of the batch overlap");
      case RANGE -> outside(one);
      case PEER_LOST -> failure(Reason.PEER_LOST, status);
      case AUTH -> failure(Reason.UNAUTHENTICATED, status);
      case CORRUPT -> failure(Reason.CORRUPT, status);
      case OK, BACKEND, IO, UNSUPPORTED, NO_MEMORY, BUSY, DEVICE_LOST ->
          failure(Reason.BACKEND, status);
    };
  }

  private static RuntimeException failure(Reason reason, NativeStatus status) {
    return new TransferFailedException(reason, "the native library failed: " + status, null);
  }

  private static RuntimeException outside(Pending one) {
    try {
      one.batch.requireWithin(one.sourceBytes, one.targetBytes);
    } catch (IndexOutOfBoundsException named) {
      return named;
    }
    return new IndexOutOfBoundsException("a range leaves its region");
  }

  @Override
  public Counts counts() {
    var into = new long[4];
    if (TransferThread.counts(thread, into) == 0) {
      last = new Counts(into[0], into[1], into[2]);
    }
    return last;
  }

  @Override
  public void close() {
    submitting.lock();
    try {
      if (!closed) {
        var _ = counts();
      }
      closed = true;
    } finally {
      submitting.unlock();
    }
    TransferThread.close(thread, DRAIN_NANOS);
    boolean interrupted = false;
    try {
      if (!poller.equals(Thread.currentThread()) && !poller.join(POLLER_END)) {
        LOG.log(Level.WARNING, "the thread of native completions has not ended in time");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
