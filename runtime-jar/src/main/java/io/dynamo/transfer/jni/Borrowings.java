package io.dynamo.transfer.jni;

import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.natives.RegionLoans;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.MemorySharing;
import io.dynamo.transfer.RegionAddress.Permission;
import java.nio.charset.StandardCharsets;

/**
 * The memory of other processes that this one has mapped, and keeps for further copies until its
 * lease ends. Safe for concurrent use. Regions are handles of the native library.
 */
final class Borrowings implements AutoCloseable {
  private static final long NONE = -1;

  private long keeper = NONE; // guarded by this, like closed
  private boolean closed;

  /** Returns the region of an address that is mapped already, or a status. */
  long find(RegionAddress to, MemorySharing sharing) {
    long keeping;
    synchronized (this) {
      keeping = keeper;
    }
    return RegionLoans.find(
        keeping, name(sharing), to.lease(), to.secret(), to.byteSize(), isToRead(to));
  }

  /** Asks for the memory of an address: returns a loan, or a status. Does not wait. */
  long ask(RegionAddress to, MemorySharing sharing) {
    return RegionLoans.ask(name(sharing), to.lease(), to.secret(), isToRead(to));
  }

  /**
   * Returns whether the lease of memory that {@link #find} has returned still runs, after it was
   * read.
   */
  boolean isRunning(RegionAddress from, MemorySharing sharing) {
    long keeping;
    synchronized (this) {
      keeping = keeper;
    }
    return NativeStatus.of(
            RegionLoans.confirmKept(keeping, name(sharing), from.lease(), from.secret()))
        == NativeStatus.OK;
  }

  private static boolean isToRead(RegionAddress of) {
    return of.permission() == Permission.READ;
  }

  private static byte[] name(MemorySharing sharing) {
    return sharing.name().getBytes(StandardCharsets.UTF_8);
  }

  /** Keeps a region for further copies; one that cannot be kept is released. Ends the loan. */
  void keep(long loan, long region) {
    try {
      if (NativeStatus.of(RegionLoans.keep(keeper(), loan)) != NativeStatus.OK) {
        NativeTransfer.release(region);
      }
    } finally {
      RegionLoans.closeLoan(loan);
    }
  }

  /** Returns the keeper, which starts with the first region; a status when there is none. */
  private synchronized long keeper() {
    if (keeper < 0 && !closed) {
      keeper = RegionLoans.openKeeper();
    }
    return keeper;
  }

  /** Lets go of all memory. Idempotent. */
  @Override
  public void close() {
    long ending;
    synchronized (this) {
      closed = true;
      ending = keeper;
    }
    RegionLoans.closeKeeper(ending);
  }
}
