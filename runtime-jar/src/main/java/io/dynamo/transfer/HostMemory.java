package io.dynamo.transfer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Allocates regions of host memory and works on them. Safe for concurrent use; every offset is
 * checked. Implementations differ in speed only: they pass one suite of tests.
 *
 * <p>All methods: a range that leaves its region throws {@link IndexOutOfBoundsException}; a closed
 * region or memory throws {@link IllegalStateException}; in both cases no byte was moved.
 */
public interface HostMemory extends AutoCloseable {
  /** Whether the pages of a region stay in RAM. */
  enum Residency {
    /** The kernel may write them to its swap space, and move them. */
    PAGEABLE,
    /** The kernel keeps them in RAM, and may move them there: devices do not reach them. */
    PINNED_SOFT,
    /** The driver of a GPU keeps them where they are, and its GPU reaches them. */
    PINNED
  }

  /**
   * A contiguous range of bytes of the host. Use after {@link #close()} throws {@link
   * IllegalStateException}, never touches memory. Operations of several threads are not ordered
   * among themselves: callers whose ranges overlap must order them.
   */
  interface Region extends BlockRegion {
    /**
     * Writes all remaining bytes of {@code from} at {@code offset}, and moves its position to its
     * limit. The memory of {@code from} must stay valid meanwhile.
     */
    void write(long offset, ByteBuffer from);

    /**
     * Fills all remaining room of {@code into} from {@code offset}, and moves its position to its
     * limit. The memory of {@code into} must stay valid meanwhile.
     *
     * @throws java.nio.ReadOnlyBufferException if {@code into} is
     */
    void read(long offset, ByteBuffer into);

    Residency residency();

    /** Returns the CRC-32C (Castagnoli) of a range. */
    int crc32c(long offset, long length);

    /**
     * Returns a view of the bytes, without copying. Valid while {@code until} lives, also after the
     * region is closed.
     *
     * @throws IllegalStateException if {@code until} has ended, too
     */
    MemorySegment view(Arena until);

    /**
     * Closes the region: later operations fail. Never waits; the bytes are freed when running
     * operations, and views of them, have ended. Idempotent.
     */
    @Override
    void close();
  }

  /** Returns the name of the implementation, {@code native} or {@code java}. */
  String kind();

  /**
   * Allocates zeroed bytes, aligned to at least 64.
   *
   * @throws IllegalArgumentException if {@code byteSize} is not positive
   * @throws HostMemoryExhaustedException if the machine does not have as many
   */
  Region allocate(long byteSize);

  /**
   * Allocates as {@link #allocate} does, where this machine allows it in memory that other
   * processes of the host can map: a {@link RegionExchange} lends such a region to them without a
   * network.
   */
  Region allocateShared(long byteSize);

  /**
   * Allocates as {@link #allocate} does, in pages that the kernel keeps in RAM where it allows that
   * to this process: {@link Region#residency} of the region says whether it does. Otherwise the
   * region is like any other.
   */
  Region allocatePinned(long byteSize);

  /**
   * Copies every range of {@code batch} from {@code source} to {@code target}; either all ranges
   * are valid or none is copied.
   *
   * @throws IllegalArgumentException if the outcome would depend on the order: two targets overlap,
   *     or a target overlaps a source and both are of one region; or if a region belongs to another
   *     memory
   */
  void copy(Region source, Region target, CopyBatch batch);

  /**
   * Moves blocks into another order of their dimensions; otherwise as {@link #copy}.
   *
   * @throws IllegalArgumentException also when the blocks are interleaved and have more than a
   *     million runs
   */
  default void permute(Region source, Region target, BlockPermutation permutation) {
    copy(source, target, permutation.toRanges());
  }

  /**
   * Returns the client that copies between this memory's regions in the background; one for all.
   */
  TransferClient transfers();

  /** Closes the client and every region that is still open. Idempotent. */
  @Override
  void close();
}
