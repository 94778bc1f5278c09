package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.natives.RegionLoans;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.MemorySharing;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * One write into memory of another process, or one read: gets the memory, where it is not mapped
 * already, and copies. A lender that does not give it in time, for another reason than that the
 * transfer is not allowed, costs nothing but that time: the same bytes then go by network. Run by a
 * platform thread of its own; the transfer is safe for concurrent use.
 *
 * <p>The end of a lease does not wait for readers. So a read looks after its copy whether the lease
 * still runs, and counts for nothing when it does not: the copy may have bytes that the owner has
 * put there since.
 */
final class SharedCopy implements Runnable {
  private static final Duration END_LIMIT = Duration.ofSeconds(5); // of a copy that was given up

  /**
   * The bytes that are moved.
   *
   * @param own the source of a write, the target of a read
   * @param peer the other side, whose permission says which of the two it is
   * @param sharing which {@code peer} has
   */
  record Order(
      Region own,
      RegionExchange.Range range,
      RegionAddress peer,
      MemorySharing sharing,
      Deadline deadline) {
    boolean isRead() {
      return peer.permission() == Permission.READ;
    }

    private void requireWithin() {
      long sourceBytes = isRead() ? peer.byteSize() : own.byteSize();
      long targetBytes = isRead() ? own.byteSize() : peer.byteSize();
      if (!range.isWithin(sourceBytes, targetBytes)) {
        throw range.outside(sourceBytes, targetBytes);
      }
    }
  }

  /** The part of the exchange that its copies need. */
  interface Exchange {
    /** Moves the bytes of an order by network. */
    Transfer moveByNetwork(Order order);

    /** Tells the operator why memory was not shared. */
    void reportRefusal(NativeStatus why);

    /** Counts bytes that have arrived by shared memory. */
    void countShared(Order order, long bytes);
  }

  private final NativeHostMemory memory;
  private final Borrowings borrowings;
  private final Order order;
  private final Exchange exchange;
  private final Duration loanLimit;
  private final Transfer transfer = new Transfer(this::giveUp);
  private long loan = -1; // guarded by this, like the next two
  private @Nullable Transfer moving;
  private boolean givenUp;

  /**
   * @param loanLimit how long the other process may take to pass its memory on
   */
  SharedCopy(
      NativeHostMemory memory,
      Borrowings borrowings,
      Order order,
      Exchange exchange,
      Duration loanLimit) {
    this.loanLimit = loanLimit;
    this.memory = memory;
    this.borrowings = borrowings;
    this.order = order;
    this.exchange = exchange;
  }

  Transfer transfer() {
    return transfer;
  }

  private synchronized void giveUp() {
    givenUp = true;
    RegionLoans.closeLoan(loan);
    if (moving != null) {
      moving.cancel();
    }
  }

  @Override
  public void run() {
    try {
      if (!copyMapped()) {
        copyLent();
      }
    } catch (RuntimeException failure) {
      fail(failure);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      fail(cancelled());
    } catch (Error failure) {
      fail(new IllegalStateException("a copy by shared memory failed", failure));
      throw failure;
    }
  }

  /** Fails the transfer once its copy has ended: until then that uses the region here. */
  private void fail(RuntimeException why) {
    Transfer last;
    synchronized (this) {
      last = moving;
    }
    if (last == null) {
      transfer.fail(why);
      return;
    }
    last.cancel();
    var _ = last.outcome().whenComplete((_, _) -> transfer.fail(why));
  }

  /** Returns false when the memory is not mapped, or its lease ends at this moment. */
  private boolean copyMapped() throws InterruptedException {
    long region = borrowings.find(order.peer, order.sharing);
    if (region < 0 || isOver()) {
      return false;
    }
    try {
      long bytes = copy(region);
      if (isOver()) {
        return false;
      }
      arrived(bytes);
      return true;
    } catch (IllegalStateException released) {
      return false; // the lender says why; a region here that is closed fails there again
    }
  }

  /**
   * Returns whether the lease of mapped memory is known to be over; the end of one for writes
   * waits.
   */
  private boolean isOver() {
    return order.isRead() && !borrowings.isRunning(order.peer, order.sharing);
  }

  private void copyLent() throws InterruptedException {
    long lent = ask();
    boolean isKept = false;
    try {
      long region = lent < 0 ? lent : await(lent);
      if (region < 0) {
        refused(NativeStatus.of(region));
        return;
      }
      try {
        long bytes = copyOwn(region);
        if (order.isRead() && NativeStatus.of(RegionLoans.confirm(lent)) != NativeStatus.OK) {
          moveByNetwork(); // whose owner knows the reason
          return;
        }
        isKept = true;
        borrowings.keep(lent, region);
        arrived(bytes);
      } finally {
        if (!isKept) {
          NativeTransfer.release(region);
        }
      }
    } finally {
      if (!isKept) {
        RegionLoans.closeLoan(lent);
      }
    }
  }

  private synchronized long ask() {
    if (givenUp) {
      throw cancelled();
    }
    loan = borrowings.ask(order.peer, order.sharing);
    return loan;
  }

  /** Returns the borrowed region, or a status. */
  private long await(long lent) {
    long most = Math.clamp(order.deadline.remainingNanos(), 0, loanLimit.toNanos());
    return RegionLoans.await(lent, order.peer.byteSize(), most);
  }

  /** Fails when the write is not allowed; otherwise the network may have more success. */
  private void refused(NativeStatus status) {
    switch (status) {
      case CANCELLED -> throw cancelled();
      case STALE -> throw failure(Reason.STALE, "its lease is over");
      case AUTH -> throw failure(Reason.UNAUTHENTICATED, "it does not know the secret");
      case RANGE -> throw failure(Reason.RANGE, "its memory has another size");
      case CORRUPT ->
          throw failure(Reason.CORRUPT, "its memory is not sealed, or its answer wrong");
      case OK,
          INVALID,
          BACKEND,
          IO,
          TIMEOUT,
          UNSUPPORTED,
          NO_MEMORY,
          BUSY,
          PEER_LOST,
          DEVICE_LOST -> {
        if (order.deadline.isExpired()) {
          throw new DeadlineExceededException("the deadline of the transfer passed");
        }
        exchange.reportRefusal(status);
        moveByNetwork();
      }
    }
  }

  private void moveByNetwork() {
    Transfer writing;
    synchronized (this) {
      if (givenUp) {
        throw cancelled();
      }
      writing = exchange.moveByNetwork(order);
      moving = writing;
    }
    var _ =
        writing
            .outcome()
            .whenComplete(
                (bytes, failure) -> {
                  if (failure == null) {
                    transfer.complete(bytes);
                  } else {
                    transfer.fail(cause(failure));
                  }
                });
  }

  private static RuntimeException cause(Throwable failure) {
    var cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
  }

  /** Copies into a region that nobody else releases. */
  private long copyOwn(long region) throws InterruptedException {
    try {
      return copy(region);
    } catch (IllegalStateException closed) {
      throw new TransferFailedException(
          Reason.STALE,
          order.peer.transferOf(order.range.byteSize()) + " failed: the region here is closed",
          closed);
    }
  }

  private long copy(long region) throws InterruptedException {
    order.requireWithin();
    return order.range.byteSize() == 0 ? 0 : copied(memory.borrowed(region, order.peer.byteSize()));
  }

  private void arrived(long bytes) {
    exchange.countShared(order, bytes);
    transfer.complete(bytes);
  }

  private long copied(Region borrowed) throws InterruptedException {
    Transfer copy;
    synchronized (this) {
      if (givenUp) {
        throw cancelled();
      }
      var range = order.range;
      var whole = new CopyBatch().add(range.sourceOffset(), range.targetOffset(), range.byteSize());
      copy =
          memory
              .transfers()
              .copy(
                  order.isRead() ? borrowed : order.own,
                  order.isRead() ? order.own : borrowed,
                  whole,
                  Priority.ONBOARD,
                  order.deadline);
      moving = copy;
    }
    // It ends by its own deadline, at the latest; else it is cancelled, and ends the transfer then.
    return copy.await(
        Deadline.after(
            END_LIMIT.plusNanos(
                Math.clamp(order.deadline.remainingNanos(), 0, Long.MAX_VALUE / 2))));
  }

  private static CancelledException cancelled() {
    return new CancelledException("the transfer was cancelled");
  }

  private TransferFailedException failure(Reason reason, String why) {
    return new TransferFailedException(
        reason, "cannot map the %s: %s".formatted(order.peer, why), null);
  }
}
