package io.dynamo.transfer;

import io.dynamo.transfer.BlockPlace.Storage;
import io.dynamo.transfer.HostMemory.Region;
import java.util.ArrayDeque;

/**
 * Slots of one region of the host, where bytes stop between two lanes. Transfers that find none
 * wait their turn. Safe for concurrent use; never blocks.
 */
public final class BouncePool {
  /** Receives a slot, on the thread that gave it back. */
  @FunctionalInterface
  interface Waiter {
    void take(int slot);
  }

  private static final int MOST_WAITERS = 4096;

  private final Region region;
  private final long slotBytes;
  private final ArrayDeque<Integer> idle = new ArrayDeque<>(); // guarded by this, like the rest
  private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();

  /**
   * @param region closed by its owner, after the last transfer has ended
   * @param slotBytes a multiple of the alignment of disks
   */
  public BouncePool(Region region, long slotBytes) {
    if (slotBytes < 1 || slotBytes > region.byteSize()) {
      throw new IllegalArgumentException(
          "a slot of %d bytes in a region of %d".formatted(slotBytes, region.byteSize()));
    }
    this.region = region;
    this.slotBytes = slotBytes;
    for (int slot = 0; slot < region.byteSize() / slotBytes && slot < 1024; slot++) {
      idle.add(slot);
    }
  }

  Region region() {
    return region;
  }

  /**
   * Returns the storage that the slots are in, {@code PINNED} where the kernel keeps them in RAM.
   */
  public Storage storage() {
    return storageOf(region);
  }

  static Storage storageOf(Region region) {
    return switch (region.residency()) {
      case PINNED, PINNED_SOFT -> Storage.PINNED;
      case PAGEABLE -> Storage.SYSTEM;
    };
  }

  long slotBytes() {
    return slotBytes;
  }

  long offset(int slot) {
    return slot * slotBytes;
  }

  /** Returns the number of slots that no transfer has. */
  public synchronized int idle() {
    return idle.size();
  }

  /**
   * Passes a slot to {@code waiter}, at once or later.
   *
   * @throws TransferBusyException when too many wait
   */
  void take(Waiter waiter) {
    Integer slot;
    synchronized (this) {
      slot = idle.poll();
      if (slot == null) {
        if (waiters.size() >= MOST_WAITERS) {
          throw new TransferBusyException(MOST_WAITERS);
        }
        waiters.add(waiter);
        return;
      }
    }
    waiter.take(slot);
  }

  /** Ends a wait. Returns false when the waiter has its slot, or is about to. */
  synchronized boolean leave(Waiter waiter) {
    return waiters.remove(waiter);
  }

  void giveBack(int slot) {
    Waiter next;
    synchronized (this) {
      next = waiters.poll();
      if (next == null) {
        idle.add(slot);
        return;
      }
    }
    next.take(slot);
  }
}
