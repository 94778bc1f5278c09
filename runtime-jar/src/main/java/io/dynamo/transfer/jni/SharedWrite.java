package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.RegionLoans;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One write into memory of another process: waits for the memory, copies, and lets go of it before
 * the transfer ends. Run by a platform thread of its own; the transfer is safe for concurrent use.
 */
final class SharedWrite implements Runnable {
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos(); // re-checks that often
  private static final Duration END_LIMIT = Duration.ofSeconds(5); // of a copy that was given up

  private final NativeHostMemory memory;
  private final Region source;
  private final long byteSize;
  private final RegionAddress to;
  private final long loan;
  private final Deadline deadline;
  private final Transfer transfer = new Transfer(this::giveUp);
  private @Nullable Transfer copying; // guarded by this, like givenUp
  private boolean givenUp;

  /**
   * @param loan which was asked for
   */
  SharedWrite(
      NativeHostMemory memory,
      Region source,
      long byteSize,
      RegionAddress to,
      long loan,
      Deadline deadline) {
    this.memory = memory;
    this.source = source;
    this.byteSize = byteSize;
    this.to = to;
    this.loan = loan;
    this.deadline = deadline;
  }

  Transfer transfer() {
    return transfer;
  }

  private synchronized void giveUp() {
    givenUp = true;
    RegionLoans.closeLoan(loan);
    if (copying != null) {
      copying.cancel();
    }
  }

  @Override
  public void run() {
    try {
      transfer.complete(write());
    } catch (RuntimeException failure) {
      transfer.fail(failure);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      transfer.fail(cancelled());
    } catch (Error failure) {
      transfer.fail(new IllegalStateException("a write by shared memory failed", failure));
      throw failure;
    }
  }

  private long write() throws InterruptedException {
    long region;
    try {
      region = borrow();
    } finally {
      RegionLoans.closeLoan(loan);
    }
    if (region < 0) {
      throw failure(NativeStatus.of(region));
    }
    try (var target = memory.added(region, to.byteSize())) {
      return copied(target);
    }
  }

  /** Returns the borrowed region, or a status. */
  private long borrow() {
    while (true) {
      long left = deadline.remainingNanos();
      long region = RegionLoans.await(loan, to.byteSize(), Math.clamp(left, 0, LOOK_NANOS));
      if (NativeStatus.of(region) != NativeStatus.BUSY) {
        return region;
      }
      if (left <= 0) {
        throw new DeadlineExceededException("the deadline of the transfer passed");
      }
    }
  }

  private long copied(Region target) throws InterruptedException {
    if (byteSize > to.byteSize()) {
      throw new IndexOutOfBoundsException(
          "%d bytes are not within a target of %d".formatted(byteSize, to.byteSize()));
    }
    if (byteSize == 0) {
      return 0;
    }
    Transfer copy;
    synchronized (this) {
      if (givenUp) {
        throw cancelled();
      }
      var whole = new CopyBatch().add(0, 0, byteSize);
      copy = memory.transfers().copy(source, target, whole, Priority.ONBOARD, deadline);
      copying = copy;
    }
    // It ends by its own deadline, at the latest; until then the memory is in use.
    return copy.await(
        Deadline.after(
            END_LIMIT.plusNanos(Math.clamp(deadline.remainingNanos(), 0, Long.MAX_VALUE / 2))));
  }

  private static CancelledException cancelled() {
    return new CancelledException("the transfer was cancelled");
  }

  private RuntimeException failure(NativeStatus status) {
    return switch (status) {
      case CANCELLED -> cancelled();
      case STALE -> failure(Reason.STALE, "its lease is over");
      case AUTH -> failure(Reason.UNAUTHENTICATED, "it does not know the secret");
      case PEER_LOST -> failure(Reason.PEER_LOST, "its process is gone");
      case RANGE -> failure(Reason.RANGE, "its memory has another size");
      case CORRUPT -> failure(Reason.CORRUPT, "its memory is not sealed, or its answer wrong");
      case OK, INVALID, BACKEND, IO, TIMEOUT, NO_MEMORY, BUSY ->
          new IllegalStateException(
              "cannot map the %s: %s; check the limits on descriptors and memory"
                  .formatted(to, status));
    };
  }

  private TransferFailedException failure(Reason reason, String why) {
    return new TransferFailedException(reason, "cannot map the %s: %s".formatted(to, why), null);
  }
}
