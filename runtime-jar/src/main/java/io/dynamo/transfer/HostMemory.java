package io.dynamo.transfer;

import java.nio.ByteBuffer;

/**
 * Allocates regions of host memory and works on them. Safe for concurrent use; every offset is
 * checked.
 */
public interface HostMemory extends AutoCloseable {
  /**
   * A run of bytes that blocks live in. Use after {@link #close()} throws {@link
   * IllegalStateException}, never touches memory.
   */
  interface Region extends AutoCloseable {
    long byteSize();

    /** Writes all of {@code from} at {@code offset}. */
    void write(long offset, ByteBuffer from);

    /** Fills all of {@code into} from {@code offset}. */
    void read(long offset, ByteBuffer into);

    /** CRC-32C (Castagnoli) of a range. */
    int crc32c(long offset, long length);

    /** Frees the bytes. Idempotent. */
    @Override
    void close();
  }

  /** {@code native} or {@code java}: which implementation this is. */
  String kind();

  /** Zeroed bytes, aligned to a cache line at least. */
  Region allocate(long byteSize);

  /**
   * Copies every piece of {@code batch} from {@code source} to {@code target} in one call; either
   * all ranges are valid or none is copied.
   */
  void copy(Region source, Region target, CopyBatch batch);

  /** Frees every region that is still open. Idempotent. */
  @Override
  void close();
}
