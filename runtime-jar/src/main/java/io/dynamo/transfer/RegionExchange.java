package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.HostMemory.Region;
import java.time.Duration;

/**
 * Moves bytes between regions of different processes. One side exports a region under a lease and
 * passes its address on; the other writes into it. Safe for concurrent use.
 */
public interface RegionExchange extends AutoCloseable {
  /** A region that another process may write into. */
  interface Export extends AutoCloseable {
    RegionAddress address();

    /** Ends the lease: nothing is written into the region once this has returned. Idempotent. */
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
  Export export(Region region, Duration lease);

  /**
   * Writes the first {@code byteSize} bytes of {@code source} into the region at {@code to}, from
   * its beginning. Ends with their number when the last one is in place there, or with {@link
   * TransferFailedException}, {@link io.dynamo.error.DeadlineExceededException} or {@link
   * io.dynamo.error.CancelledException}; then any part of the bytes may have been written.
   */
  Transfer write(Region source, long byteSize, RegionAddress to, Deadline deadline);

  /** Ends all leases and transfers. Idempotent; must not be called on an event loop. */
  @Override
  void close();
}
