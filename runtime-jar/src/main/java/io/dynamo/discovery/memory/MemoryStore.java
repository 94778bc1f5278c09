package io.dynamo.discovery.memory;

import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.Watches;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The records that the {@link MemoryDiscovery} instances of one process share. Safe for concurrent
 * use.
 */
public final class MemoryStore {
  private final Map<String, DiscoveryRecord> records = new HashMap<>(); // guarded by this
  private final List<Runnable> observers = new CopyOnWriteArrayList<>(); // observers must not block

  /**
   * @throws IllegalStateException when another value is stored under the key
   */
  void put(DiscoveryRecord record) {
    var path = Watches.path(record);
    synchronized (this) {
      var other = records.putIfAbsent(path, record);
      if (other != null && !other.equals(record)) {
        throw new IllegalStateException(path + " is registered with another value");
      }
    }
    observers.forEach(Runnable::run);
  }

  void replace(DiscoveryRecord before, DiscoveryRecord now) {
    synchronized (this) {
      records.replace(Watches.path(before), before, now);
    }
    observers.forEach(Runnable::run);
  }

  void remove(DiscoveryRecord record) {
    synchronized (this) {
      records.remove(Watches.path(record), record);
    }
    observers.forEach(Runnable::run);
  }

  synchronized Map<String, DiscoveryRecord> snapshot() {
    return Map.copyOf(records);
  }

  void observe(Runnable observer) {
    observers.add(observer);
  }

  void forget(Runnable observer) {
    observers.remove(observer);
  }
}
