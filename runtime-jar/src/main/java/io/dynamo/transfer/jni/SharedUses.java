package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.RegionAddress.Permission;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Registers the leases by which regions are shared, each region for writing or for reading, never
 * for both at once. The end of a lease for writing makes the region's pages private, and readers
 * that have mapped them would see no later bytes. Safe for concurrent use.
 */
final class SharedUses {
  /**
   * A lease of a region.
   *
   * @param region its handle
   */
  record Use(long region, Permission permission, Deadline end) {
    /** One for writing takes the pages back when it is closed, and so lasts until then. */
    private boolean isOver() {
      return permission == Permission.READ && end.isExpired();
    }
  }

  private final Set<Use> running = // guarded by this
      Collections.newSetFromMap(new IdentityHashMap<>());

  /** Begins a use. Returns null when the region is shared for the other one. */
  synchronized @Nullable Use begin(long region, Permission permission, Duration time) {
    running.removeIf(Use::isOver);
    for (var use : running) {
      if (use.region == region && use.permission != permission) {
        return null;
      }
    }
    var use = new Use(region, permission, Deadline.after(time));
    running.add(use);
    return use;
  }

  /** Ends a use; of no effect on one that has ended. */
  synchronized void end(Use use) {
    running.remove(use);
  }

  synchronized int size() {
    return running.size();
  }
}
