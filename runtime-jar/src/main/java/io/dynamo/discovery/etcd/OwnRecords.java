package io.dynamo.discovery.etcd;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.Watches;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The records that this process has registered, and their keys in the store. A call whose outcome
 * is unknown is brought to an end by {@link #repair}: what was registered is there, what was not is
 * gone. Safe for concurrent use; calls wait for the store and for each other.
 */
final class OwnRecords {
  private static final System.Logger LOG = System.getLogger(OwnRecords.class.getName());

  private static final byte[] NOTHING = {};

  private final EtcdStore store;
  private final StoreGuard guard;
  private final Map<String, DiscoveryRecord> records = new HashMap<>(); // by path; guarded by this
  private final Set<String> unwanted = new HashSet<>(); // keys to delete; guarded by this
  private boolean closed; // guarded by this

  /**
   * @param guard runs the calls of registering and unregistering
   */
  OwnRecords(EtcdStore store, StoreGuard guard) {
    this.store = store;
    this.guard = guard;
  }

  /**
   * Writes a record that no other process has written.
   *
   * @throws IllegalStateException when another value is stored under its key
   * @throws UncheckedIOException when the store does not answer
   */
  synchronized void add(DiscoveryRecord record) {
    requireOpen();
    var path = Watches.path(record);
    var value = DiscoveryJson.encode(record);
    var found = new AtomicReference<>(NOTHING);
    try {
      guard.run(() -> found.set(create(path, value)));
    } catch (RuntimeException e) {
      if (!records.containsKey(path)) {
        unwanted.add(path);
      }
      throw unwritten(path, e);
    }
    var there = found.get();
    if (there.length > 0 && !holds(there, record)) {
      throw new IllegalStateException(path + " is registered with another value");
    }
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
  synchronized void replace(DiscoveryRecord before, DiscoveryRecord now) {
    requireOpen();
    var path = Watches.path(before);
    if (!before.equals(records.get(path))) {
      throw new IllegalStateException(path + " is not registered here");
    }
    try {
      guard.run(() -> put(path, now));
    } catch (RuntimeException e) {
      throw unwritten(path, e);
    }
    records.put(path, now);
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
  synchronized void remove(DiscoveryRecord record) {
    var path = Watches.path(record);
    if (closed || !records.remove(path, record)) {
      return;
    }
    try {
      guard.run(() -> store.delete(path));
    } catch (RuntimeException e) {
      unwanted.add(path);
      LOG.log(Level.WARNING, "discovery record " + path + " stays until etcd answers", e);
    }
  }

  /**
   * Takes the lease anew and writes all records again.
   *
   * @throws RuntimeException when the store does not answer; nothing is lost by calling again
   */
  synchronized void writeAgain() {
    if (closed) {
      return;
    }
    store.grant();
    for (var record : records.entrySet()) {
      store.put(record.getKey(), DiscoveryJson.encode(record.getValue()));
    }
    LOG.log(
        Level.WARNING,
        "the lease of this process in etcd was lost; it has a new one with {0} records",
        records.size());
  }

  /**
   * Writes records that are missing or different, deletes keys that are not wanted.
   *
   * @param seen the records of the store; may lag
   */
  synchronized void repair(Map<String, DiscoveryRecord> seen) {
    if (closed) {
      return;
    }
    records.forEach(
        (path, record) -> {
          if (!record.equals(seen.get(path))) {
            store.put(path, DiscoveryJson.encode(record));
          }
        });
    for (var path : List.copyOf(unwanted)) {
      store.delete(path);
      unwanted.remove(path);
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
    return first;
  }
}
