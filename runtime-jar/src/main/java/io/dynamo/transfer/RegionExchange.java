package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress.Permission;
import java.time.Duration;

/**
 * Moves bytes between regions of different processes. One side exports a region under a lease and
 * passes its address on; the other writes into it, or reads it, as the lease permits. Safe for
 * concurrent use.
 */
public interface RegionExchange extends AutoCloseable {
  /** A region that another process may write into, or read. */
  interface Export extends AutoCloseable {
    RegionAddress address();

    /**
     * Ends the lease: once this has returned nothing is written into the region, and no read
     * completes with bytes that are put there from now on. Idempotent.
     */
    @Override
    void close();
  }

  /**
   * Exports a region until {@code lease} is over or the export is closed. Blocks while the listener
   * is bound, so it must not be called on an event loop.
   *
   * @throws TransferBusyException when too many leases run
   * @throws IllegalStateException when the listener cannot be bound, or the exchange is closed
   */
  Export export(Region region, Permission permission, Duration lease);

  /** Exports a region for writing. */
  default Export export(Region region, Duration lease) {
    return export(region, Permission.WRITE, lease);
  }

  /**
   * The bytes of one write or read: where they begin in the source and in the target, and their
   * number.
   */
  record Range(long sourceOffset, long targetOffset, long byteSize) {
    /** Returns whether the bytes are within a source and a target of these sizes. */
    public boolean isWithin(long sourceBytes, long targetBytes) {
      return (sourceOffset | targetOffset | byteSize) >= 0
          && byteSize <= sourceBytes - sourceOffset
          && byteSize <= targetBytes - targetOffset;
    }

    /** Says that the bytes leave a source or a target of these sizes. */
    public IndexOutOfBoundsException outside(long sourceBytes, long targetBytes) {
      return new IndexOutOfBoundsException(
          "%d bytes at %d of a source of %d, and at %d of a target of %d, leave one of them"
              .formatted(byteSize, sourceOffset, sourceBytes, targetOffset, targetBytes));
    }
  }

  /**
   * Writes a range of {@code source} into the region at {@code to}. Ends with the number of its
   * bytes when the last one is in place there, or with {@link TransferFailedException}, {@link
   * io.dynamo.error.DeadlineExceededException} or {@link io.dynamo.error.CancelledException}; then
   * any part of the bytes may have been written.
   *
   * @throws IndexOutOfBoundsException when the range leaves the source or the target, unless the
   *     transfer ends with it
   */
  Transfer write(Region source, Range range, RegionAddress to, Deadline deadline);

  /**
   * Writes the first {@code byteSize} bytes of {@code source} to the beginning of the region at
   * {@code to}.
   */
  default Transfer write(Region source, long byteSize, RegionAddress to, Deadline deadline) {
    return write(source, new Range(0, 0, byteSize), to, deadline);
  }

  /**
   * Reads a range of the region at {@code from} into {@code target}. Ends with the number of its
   * bytes when the last one is in place here, or as {@link #write} does; then any part of the bytes
   * may have been written, and is not to be used. A read that completes has the bytes that were in
   * the region at some time before its lease's end.
   *
   * @throws IndexOutOfBoundsException when the range leaves the source or the target, unless the
   *     transfer ends with it
   */
  Transfer read(RegionAddress from, Range range, Region target, Deadline deadline);

  /** Ends all leases and transfers. Idempotent; must not be called on an event loop. */
  @Override
  void close();
}
