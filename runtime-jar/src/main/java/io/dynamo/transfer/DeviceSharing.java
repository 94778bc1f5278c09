package io.dynamo.transfer;

import io.dynamo.transfer.DeviceMemory.DeviceRegion;
import java.time.Duration;

/**
 * Maps memory of a GPU that another process of this host has allocated, as engines do with their KV
 * cache. Safe for concurrent use.
 */
public interface DeviceSharing {
  /**
   * A region of another process's memory, for the time of a lease. When the lease is over no copy
   * begins, those that run end after their parts on the GPU, and the region is closed.
   */
  interface ImportedRegion extends DeviceRegion {
    /**
     * Extends the lease to {@code lease} from now on.
     *
     * @throws IllegalStateException when it is over
     */
    void renew(Duration lease);
  }

  /**
   * Names a region of the own memory for other processes; whoever has the 64 bytes can map it, so
   * they travel on authenticated channels only.
   *
   * @throws IllegalArgumentException for a region that was imported, or belongs to another memory
   * @throws UnsupportedOperationException when the driver shares no memory
   */
  byte[] export(DeviceRegion region);

  /**
   * Maps the first {@code byteSize} bytes of a region that another process has named.
   *
   * @param lease how long the owner leaves it in place, without a renewal
   * @throws IndexOutOfBoundsException when it has fewer bytes
   * @throws IllegalStateException when the driver refuses it
   * @throws UnsupportedOperationException when the driver shares no memory
   */
  ImportedRegion importRegion(byte[] name, long byteSize, Duration lease);
}
