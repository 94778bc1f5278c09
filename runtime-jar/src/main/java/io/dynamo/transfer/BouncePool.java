package io.dynamo.transfer;

import io.dynamo.concurrent.CoalescedTask;
import io.dynamo.transfer.BlockPlace.Storage;
import io.dynamo.transfer.HostMemory.Region;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Slots of one region of the host, where bytes stop between two lanes. Transfers that find none
 * wait their turn. Safe for concurrent use; never blocks.
 */
public final class BouncePool implements AutoCloseable {
  /** Receives a slot, on a thread that takes one or gives one back. */
  @FunctionalInterface
  interface Waiter {
    void take(int slot);
  }

  private static final int MOST_WAITERS = 4096;
  private static final int MOST_SLOTS = 1024;

  private final Region region;
  private final long slotBytes;
  private final ArrayDeque<Integer> idle = new ArrayDeque<>(); // guarded by this, like the rest
  private final BitSet taken = new BitSet();
  private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();

  // one at a time, so that waiters that give their slots back at once do not nest
  private final CoalescedTask handOver =
      new CoalescedTask("the hand-over of slots", Runnable::run, this::handOverAll, () -> {});

  /**
   * @param region closed by its owner, after the last transfer has ended
   * @param slotBytes a multiple of the alignment of disks
   */
  public BouncePool(Region region, long slotBytes) {
    this(region, slotBytes, allSlots(region, slotBytes));
  }

  /**
   * @param region closed by its owner, after the last transfer has ended
   * @param slotBytes a multiple of the alignment of disks
   * @param slots the numbers of the slots to use, each once
   */
  public BouncePool(Region region, long slotBytes, int[] slots) {
    if (slotBytes < 1 || slotBytes > region.byteSize()) {
      throw new IllegalArgumentException(
          "a slot of %d bytes in a region of %d".formatted(slotBytes, region.byteSize()));
    }
    this.region = region;
    this.slotBytes = slotBytes;
    var known = new BitSet();
    for (int slot : slots) {
      if (slot < 0 || slot >= region.byteSize() / slotBytes) {
        throw new IllegalArgumentException(
            "slot %d is none of the %d in the region"
                .formatted(slot, region.byteSize() / slotBytes));
      }
      if (known.get(slot)) {
        throw new IllegalArgumentException("slot %d is named twice".formatted(slot));
      }
      known.set(slot);
      idle.add(slot);
    }
    if (slots.length == 0) {
      throw new IllegalArgumentException("a pool has at least one slot");
    }
  }

  private static int[] allSlots(Region region, long slotBytes) {
    long count = slotBytes < 1 ? 0 : region.byteSize() / slotBytes;
    return IntStream.range(0, (int) Math.min(count, MOST_SLOTS)).toArray();
  }

  /**
   * Allocates a pool of its own, in pinned memory: of the GPU's driver where there is a GPU, else
   * locked by the kernel where it allows that.
   *
   * @throws HostMemoryExhaustedException if the machine does not have as many bytes
   */
  public static BouncePool allocate(
      HostMemory host, @Nullable DeviceMemory device, int slots, long slotBytes) {
    if (slots < 1 || slots > MOST_SLOTS) {
      throw new IllegalArgumentException(
          "a pool of %d slots; it has 1 to %d".formatted(slots, MOST_SLOTS));
    }
    long bytes = Math.multiplyExact(slotBytes, slots);
    var region =
        device == null
            ? host.allocatePinned(bytes)
            : device.allocatePinned(bytes, DeviceMemory.PinnedUse.READ_AND_WRITE);
    return new BouncePool(region, slotBytes);
  }

  /** Closes the region: moves that stop here fail from now on. Idempotent. */
  @Override
  public void close() {
    region.close();
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
    synchronized (this) {
      if (waiters.size() >= MOST_WAITERS) {
        throw new TransferBusyException(MOST_WAITERS);
      }
      waiters.add(waiter);
    }
    var _ = handOver.request();
  }

  /** Ends a wait. Returns false when the waiter has its slot, or is about to. */
  synchronized boolean leave(Waiter waiter) {
    return waiters.remove(waiter);
  }

  void giveBack(int slot) {
    synchronized (this) {
      if (!taken.get(slot)) { // else two transfers would have it
        throw new IllegalStateException("slot %d was given back twice".formatted(slot));
      }
      taken.clear(slot);
      idle.add(slot);
    }
    var _ = handOver.request();
  }

  private void handOverAll() {
    while (handOverNext()) {}
  }

  /** Returns false when nobody waits or no slot is idle. */
  private boolean handOverNext() {
    Waiter next;
    int slot;
    synchronized (this) {
      if (idle.isEmpty() || waiters.isEmpty()) {
        return false;
      }
      next = waiters.remove();
      slot = idle.remove();
      taken.set(slot);
    }
    next.take(slot);
    return true;
  }
}
