package io.dynamo.transfer;

/**
 * A contiguous range of bytes for blocks, in memory of the host or of a GPU. Safe for concurrent
 * use; its own memory's {@link TransferClient} copies from it and into it.
 */
public interface BlockRegion extends AutoCloseable {
  long byteSize();

  /**
   * Closes the region: later operations fail. Never waits; the bytes are freed when running
   * operations on them have ended. Idempotent.
   */
  @Override
  void close();
}
