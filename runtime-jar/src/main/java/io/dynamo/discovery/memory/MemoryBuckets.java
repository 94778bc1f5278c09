package io.dynamo.discovery.memory;

import io.dynamo.concurrent.CoalescedTask;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.discovery.store.BucketWatch;
import io.dynamo.discovery.store.KeyValueStore;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The buckets of a {@link MemoryStore} as one member sees them. Listeners are called on the
 * executor, one at a time. Safe for concurrent use.
 */
final class MemoryBuckets implements KeyValueStore {
  private final MemoryStore store;
  private final CoalescedTask looks;
  private final Runnable observer;
  private final List<BucketWatch> watches = new CopyOnWriteArrayList<>();

  MemoryBuckets(MemoryStore store, Executor executor) {
    this.store = store;
    looks = new CoalescedTask("buckets", executor, this::report, watches::clear);
    observer = looks::request;
    store.observe(observer);
  }

  @Override
  public Bucket bucket(BucketName name) {
    return new OneBucket(name);
  }

  private void report() {
    for (var watch : watches) {
      watch.report(store.entries(watch.bucket()));
    }
  }

  /** Deletes the keys of this member, and stops calling its listeners. */
  void close() {
    store.forget(observer);
    watches.forEach(BucketWatch::close);
    watches.clear();
    store.deleteAllOf(this);
  }

  private final class OneBucket implements Bucket {
    private final BucketName name;

    OneBucket(BucketName name) {
      this.name = name;
    }

    @Override
    public Optional<Entry> get(String key) {
      return Optional.ofNullable(store.entries(name).get(key));
    }

    @Override
    public Map<String, Entry> entries() {
      return store.entries(name);
    }

    @Override
    public OptionalLong create(String key, byte[] value) {
      return store.write(name, key, value, MemoryStore.ABSENT, MemoryBuckets.this);
    }

    @Override
    public OptionalLong replace(String key, byte[] value, long revision) {
      return store.write(name, key, value, revision, MemoryBuckets.this);
    }

    @Override
    public boolean delete(String key, long revision) {
      return store.delete(name, key, revision);
    }

    @Override
    public Discovery.Handle watch(Consumer<Map<String, Entry>> listener) {
      var watch = new BucketWatch(name, listener);
      watches.add(watch);
      observer.run();
      return () -> {
        watch.close();
        watches.remove(watch);
      };
    }
  }
}
