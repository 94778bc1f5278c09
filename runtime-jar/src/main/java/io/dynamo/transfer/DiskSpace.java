package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.HostMemory.Region;

/**
 * Scratch space for blocks on a disk, read into regions and written from them in the background.
 * Safe for concurrent use; never blocks its caller but in {@link #close}.
 *
 * <p>All of its blocks are allocated when it is made: a disk that is full fails then. Its bytes are
 * not synced, and are gone with it or with the process. Each request ends once, with the number of
 * its bytes, or with {@link io.dynamo.error.DeadlineExceededException}, {@link
 * io.dynamo.error.CancelledException}, {@link DiskFailedException} or {@link
 * TransferFailedException} (what works on the disk failed); then any part of the bytes may have
 * been moved. A region that is closed meanwhile keeps its bytes until the request has ended.
 * Requests are not ordered among themselves.
 */
public interface DiskSpace extends AutoCloseable {
  long byteSize();

  /** Returns the alignment of offsets and lengths in the space. */
  int alignment();

  /** Returns how bytes get to the disk, in words. */
  String way();

  /**
   * Writes a range of {@code source} into the space.
   *
   * @throws IndexOutOfBoundsException when a range leaves the region or the space
   * @throws IllegalArgumentException when the offset, the length or the region's memory is not
   *     aligned, or the region belongs to another memory
   * @throws TransferBusyException when too many requests are on their way
   * @throws IllegalStateException when the region or the space is closed
   */
  Transfer write(Region source, long sourceOffset, long offset, long byteSize, Deadline deadline);

  /** Reads a range of the space into {@code target}; otherwise as {@link #write}. */
  Transfer read(Region target, long targetOffset, long offset, long byteSize, Deadline deadline);

  /** Cancels all requests, waits until they have ended, and frees the space. Idempotent. */
  @Override
  void close();
}
