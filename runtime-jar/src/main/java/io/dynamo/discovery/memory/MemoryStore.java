package io.dynamo.discovery.memory;

import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.Watches;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.discovery.store.KeyValueStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;

/**
 * The records and buckets that the {@link MemoryDiscovery} instances of one process share. Safe for
 * concurrent use.
 */
public final class MemoryStore {
  /** The revision of a key that does not exist. */
  static final long ABSENT = 0;

  private record OwnedEntry(Bucket.Entry entry, Object owner) {}

  private final Map<String, DiscoveryRecord> records = new HashMap<>(); // guarded by this
  private final Map<BucketName, Map<String, OwnedEntry>> buckets =
      new HashMap<>(); // guarded by this
  private long revision = ABSENT; // of the last write to a bucket; guarded by this
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

  /**
   * Writes a key that has the revision {@code before}.
   *
   * @return the new revision; empty when the key has another
   */
  OptionalLong write(BucketName bucket, String key, byte[] value, long before, Object owner) {
    if (value.length > Bucket.MAX_VALUE_BYTES) {
      throw new IllegalArgumentException(
          "the value of %s/%s has %d bytes, more than %d"
              .formatted(bucket, key, value.length, Bucket.MAX_VALUE_BYTES));
    }
    long written;
    synchronized (this) {
      if (revision(bucket, key) != before) {
        return OptionalLong.empty();
      }
      written = ++revision;
      buckets
          .computeIfAbsent(bucket, _ -> new HashMap<>())
          .put(key, new OwnedEntry(new Bucket.Entry(value.clone(), written), owner));
    }
    observers.forEach(Runnable::run);
    return OptionalLong.of(written);
  }

  private long revision(BucketName bucket, String key) { // holds this
    var held = buckets.getOrDefault(bucket, Map.of()).get(key);
    return held == null ? ABSENT : held.entry.revision();
  }

  /** Deletes a key that has the revision {@code before}; returns whether it had. */
  boolean delete(BucketName bucket, String key, long before) {
    synchronized (this) {
      var keys = buckets.get(bucket);
      if (keys == null || before == ABSENT || revision(bucket, key) != before) {
        return false;
      }
      keys.remove(key);
      if (keys.isEmpty()) {
        buckets.remove(bucket);
      }
    }
    observers.forEach(Runnable::run);
    return true;
  }

  /**
   * Returns the buckets as a member without discovery sees them.
   *
   * @param executor runs its listeners
   */
  public KeyValueStore buckets(Executor executor) {
    return new MemoryBuckets(this, executor);
  }

  /** Returns the keys of a bucket. */
  synchronized Map<String, Bucket.Entry> entries(BucketName bucket) {
    var entries = new HashMap<String, Bucket.Entry>();
    buckets.getOrDefault(bucket, Map.of()).forEach((key, held) -> entries.put(key, held.entry));
    return entries;
  }

  /** Deletes all keys of an owner. */
  void deleteAllOf(Object owner) {
    synchronized (this) {
      buckets.values().forEach(keys -> keys.values().removeIf(held -> held.owner.equals(owner)));
      buckets.values().removeIf(Map::isEmpty);
    }
    observers.forEach(Runnable::run);
  }

  void observe(Runnable observer) {
    observers.add(observer);
  }

  void forget(Runnable observer) {
    observers.remove(observer);
  }
}
