package io.dynamo.discovery.etcd;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.Watches;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The records that this process has registered, and their keys in the store. A call whose outcome
 * is unknown is brought to an end by {@link #repair}: what was registered is there, what was not is
 * gone. Safe for concurrent use. Calls that write wait for the store and, a bounded time, for each
 * other; no lock that others need is held meanwhile.
 */
final class OwnRecords {
  private static final System.Logger LOG = System.getLogger(OwnRecords.class.getName());

  private static final byte[] NOTHING = {};

  private final EtcdStore store;
  private final StoreGuard guard;
  private final Duration patience;
  private final ReentrantLock turn = new ReentrantLock(true); // of the one that calls the store
  private final Map<String, DiscoveryRecord> records = new HashMap<>(); // by path; guarded by this
  private final Set<String> unwanted = new HashSet<>(); // keys to delete; guarded by this
  private boolean closed; // guarded by this

  /**
   * @param guard runs the calls of registering and unregistering
   * @param patience how long a call waits for those before it
   */
  OwnRecords(EtcdStore store, StoreGuard guard, Duration patience) {
    this.store = store;
    this.guard = guard;
    this.patience = patience;
  }

  /**
   * Waits for the calls before this one; the caller unlocks {@link #turn}.
   *
   * @throws StoreUnavailableException when they take too long
   */
  private void awaitTurn() {
    try {
      if (turn.tryLock(patience.toNanos(), TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("interrupted while waiting for other calls to etcd", e);
    }
    throw new StoreUnavailableException(
        "%d calls before this one have waited for etcd for %s"
            .formatted(turn.getQueueLength() + 1, patience),
        null);
  }

  /**
   * Writes a record that no other process has written.
   *
   * @throws IllegalStateException when another value is stored under its key
   * @throws UncheckedIOException when the store does not answer
   */
  void add(DiscoveryRecord record) {
    var path = Watches.path(record);
    var value = DiscoveryJson.encode(record);
    inTurn(
        path,
        () -> {
          requireOpen();
          var found = new AtomicReference<>(NOTHING);
          try {
            guard.run(() -> found.set(create(path, value)));
          } catch (RuntimeException e) {
            addUnwanted(path);
            throw unwritten(path, e);
          }
          var there = found.get();
          if (there.length > 0 && !holds(there, record)) {
            throw new IllegalStateException(path + " is registered with another value");
          }
          keep(path, record);
        });
  }

  /** Runs a change when it is its turn. */
  private void inTurn(String path, Runnable change) {
    try {
      awaitTurn();
    } catch (StoreUnavailableException e) {
      throw unwritten(path, e);
    }
    try {
      change.run();
    } finally {
      turn.unlock();
    }
  }

  private synchronized void addUnwanted(String path) {
    if (!records.containsKey(path)) {
      unwanted.add(path);
    }
  }

  /**
   * Notes that {@code record} is in the store, where it goes with the lease once this is closed.
   */
  private synchronized void keep(String path, DiscoveryRecord record) {
    requireOpen();
    unwanted.remove(path);
    records.put(path, record);
  }

  /** Returns the value that the key had already; empty when it was written. */
  private byte[] create(String path, byte[] value) {
    byte[] there;
    try {
      there = store.create(path, value);
    } catch (LeaseLostException _) {
      writeAgain();
      there = store.create(path, value);
    }
    return there == null ? NOTHING : there;
  }

  private static boolean holds(byte[] value, DiscoveryRecord record) {
    try {
      return DiscoveryJson.decode(value).equals(record);
    } catch (RuntimeException _) {
      return false; // something else
    }
  }

  /**
   * Writes {@code now} in place of {@code before}.
   *
   * @throws IllegalStateException when {@code before} is not registered
   * @throws UncheckedIOException when the store does not answer
   */
  void replace(DiscoveryRecord before, DiscoveryRecord now) {
    var path = Watches.path(before);
    inTurn(
        path,
        () -> {
          requireOpen();
          if (!before.equals(record(path))) {
            throw new IllegalStateException(path + " is not registered here");
          }
          try {
            guard.run(() -> put(path, now));
          } catch (RuntimeException e) {
            throw unwritten(path, e);
          }
          keep(path, now);
        });
  }

  private synchronized @Nullable DiscoveryRecord record(String path) {
    return records.get(path);
  }

  private void put(String path, DiscoveryRecord record) {
    var value = DiscoveryJson.encode(record);
    try {
      store.put(path, value);
    } catch (LeaseLostException _) {
      writeAgain();
      store.put(path, value);
    }
  }

  private static UncheckedIOException unwritten(String path, RuntimeException cause) {
    return new UncheckedIOException(
        "cannot write the record " + path, new IOException(cause.getMessage(), cause));
  }

  /** Deletes a record. Does nothing when it is not, or no longer, registered in this form. */
  void remove(DiscoveryRecord record) {
    var path = Watches.path(record);
    try {
      awaitTurn();
    } catch (StoreUnavailableException e) {
      if (forget(path, record)) {
        leaveToRepair(path, e);
      }
      return;
    }
    try {
      if (forget(path, record)) {
        guard.run(() -> store.delete(path));
      }
    } catch (RuntimeException e) {
      leaveToRepair(path, e);
    } finally {
      turn.unlock();
    }
  }

  private synchronized boolean forget(String path, DiscoveryRecord record) {
    return !closed && records.remove(path, record);
  }

  private void leaveToRepair(String path, RuntimeException cause) {
    addUnwanted(path);
    LOG.log(Level.WARNING, "discovery record " + path + " stays until etcd answers", cause);
  }

  /**
   * Takes the lease anew and writes all records again.
   *
   * @throws RuntimeException when the store does not answer; nothing is lost by calling again
   */
  void writeAgain() {
    awaitTurn();
    try {
      if (isClosed()) {
        return;
      }
      var all = snapshot();
      store.grant();
      all.forEach(this::putIfKept);
      LOG.log(
          Level.WARNING,
          "the lease of this process in etcd was lost; it has a new one with {0} records",
          all.size());
    } finally {
      turn.unlock();
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private synchronized Map<String, DiscoveryRecord> snapshot() {
    return Map.copyOf(records);
  }

  private synchronized List<String> unwanted() {
    return List.copyOf(unwanted);
  }

  /**
   * Writes records that are missing or different, deletes keys that are not wanted. Others have
   * their turn between two of them.
   *
   * @param seen the records of the store; may lag
   */
  void repair(Map<String, DiscoveryRecord> seen) {
    snapshot()
        .forEach(
            (path, record) -> {
              if (!record.equals(seen.get(path))) {
                repairOne(() -> putIfKept(path, record));
              }
            });
    unwanted().forEach(path -> repairOne(() -> deleteIfUnwanted(path)));
  }

  private void repairOne(Runnable repair) {
    awaitTurn();
    try {
      repair.run();
    } finally {
      turn.unlock();
    }
  }

  private void putIfKept(String path, DiscoveryRecord record) {
    if (record.equals(record(path))) {
      store.put(path, DiscoveryJson.encode(record));
    }
  }

  private void deleteIfUnwanted(String path) {
    if (unwanted().contains(path)) {
      store.delete(path);
      synchronized (this) {
        unwanted.remove(path);
      }
    }
  }

  /**
   * Ends the lease once the call that is under way is done, so that nothing is written after it.
   *
   * @throws StoreUnavailableException when that call takes too long, or the store does not answer
   */
  void endLease() {
    awaitTurn();
    try {
      store.revoke();
    } catch (LeaseLostException _) {
      return; // there is none, and so no record under it
    } finally {
      turn.unlock();
    }
  }

  /**
   * @throws IllegalStateException when discovery is closed
   */
  synchronized void requireOpen() {
    if (closed) {
      throw new IllegalStateException("discovery is closed");
    }
  }

  /**
   * Forgets all records, without deleting them.
   *
   * @return false when this was closed already
   */
  synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    records.clear();
    unwanted.clear();
    return first;
  }
}
