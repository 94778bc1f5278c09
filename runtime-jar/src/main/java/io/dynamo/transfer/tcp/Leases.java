package io.dynamo.transfer.tcp;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.TransferBusyException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The regions that other processes may write into, or read, now. Safe for concurrent use; a lease
 * that is over is found by nobody, whether it was closed or not.
 */
final class Leases {
  /** How many may run at once. */
  static final int MOST = 1024;

  /** One region on loan. Safe for concurrent use. */
  final class Lease {
    private final long id;
    private final Region region;
    private final Permission permission;
    private final byte[] secret;
    private final long endNanos;
    private volatile boolean ended; // written by whoever uses the region alone

    /** Uses share it; the end waits for them. */
    private final ReadWriteLock using = new ReentrantReadWriteLock();

    private Lease(long id, Region region, Permission permission, byte[] secret, long endNanos) {
      this.id = id;
      this.region = region;
      this.permission = permission;
      this.secret = secret;
      this.endNanos = endNanos;
    }

    long id() {
      return id;
    }

    byte[] secret() {
      return secret;
    }

    Permission permission() {
      return permission;
    }

    long byteSize() {
      return region.byteSize();
    }

    /**
     * Writes into the region.
     *
     * @return false when the lease is over; then nothing was written
     * @throws IndexOutOfBoundsException when the range leaves the region
     */
    boolean write(long offset, ByteBuffer bytes) {
      return use(Permission.WRITE, () -> region.write(offset, bytes));
    }

    /**
     * Reads from the region.
     *
     * @return false when the lease is over; then nothing was read
     * @throws IndexOutOfBoundsException when the range leaves the region
     */
    boolean read(long offset, ByteBuffer into) {
      return use(Permission.READ, () -> region.read(offset, into));
    }

    /** Uses the region, at the same time as others; {@link #end} returns after that. */
    private boolean use(Permission wanted, Runnable access) {
      if (wanted != permission) {
        throw new IllegalArgumentException("the lease does not permit to " + wanted);
      }
      using.readLock().lock();
      try {
        if (isOver()) {
          return false;
        }
        access.run();
        return true;
      } catch (IllegalStateException closed) {
        return false;
      } finally {
        using.readLock().unlock();
      }
    }

    boolean isOver() {
      return ended || nanoClock.getAsLong() - endNanos >= 0;
    }

    /** Ends the lease; nothing uses the region when this returns. */
    void end() {
      using.writeLock().lock();
      try {
        ended = true;
      } finally {
        using.writeLock().unlock();
      }
      running.remove(id, this);
    }
  }

  private final Map<Long, Lease> running = new ConcurrentHashMap<>();
  private final SecureRandom random = new SecureRandom();
  private final LongSupplier nanoClock;

  Leases(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /**
   * Lends a region.
   *
   * @throws TransferBusyException when too many leases run
   */
  Lease lend(Region region, Permission permission, Duration time) {
    running.values().removeIf(Lease::isOver);
    var secret = new byte[RegionAddress.SECRET_BYTES];
    random.nextBytes(secret);
    synchronized (this) {
      if (running.size() >= MOST) {
        throw new TransferBusyException(MOST);
      }
      while (true) {
        long id = random.nextLong() >>> 1; // never negative, for messages
        long end = nanoClock.getAsLong() + time.toNanos();
        var lease = new Lease(id, region, permission, secret, end);
        if (running.putIfAbsent(id, lease) == null) {
          return lease;
        }
      }
    }
  }

  /** Returns a running lease; null when there is none of that id. */
  @Nullable Lease find(long id) {
    var lease = running.get(id);
    return lease == null || lease.isOver() ? null : lease;
  }

  int size() {
    return running.size();
  }

  void endAll() {
    running.values().forEach(Lease::end);
  }
}
