package io.dynamo.transfer.jni;

import io.dynamo.transfer.RegionAddress.Permission;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the leases by which each region is shared: for writing or for reading, never for both at
 * once. The end of a lease for writing makes the region's pages private, and readers that have
 * mapped them would see no later bytes. Safe for concurrent use.
 */
final class SharedUses {
  private record Use(Permission permission, int leases) {}

  private final Map<Long, Use> running = new HashMap<>(); // by the region's handle; guarded by this

  /**
   * Begins a use, which ends with {@link #end}. Returns false when the region is shared for the
   * other one.
   */
  synchronized boolean begin(long region, Permission permission) {
    var use = running.getOrDefault(region, new Use(permission, 0));
    if (use.permission != permission) {
      return false;
    }
    running.put(region, new Use(permission, use.leases + 1));
    return true;
  }

  synchronized void end(long region) {
    running.computeIfPresent(
        region, (_, use) -> use.leases == 1 ? null : new Use(use.permission, use.leases - 1));
  }
}
