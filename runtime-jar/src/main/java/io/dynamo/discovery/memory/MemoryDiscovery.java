package io.dynamo.discovery.memory;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.Watches;
import io.dynamo.discovery.store.KeyValueStore;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One member of a {@link MemoryStore}. Its listeners are called on one virtual thread; at most one
 * look at the store is pending, however fast the store changes.
 */
public final class MemoryDiscovery implements Discovery, KeyValueStore.Owner {
  private final MemoryStore store;
  private final InstanceId id;
  private final Set<DiscoveryRecord> own = ConcurrentHashMap.newKeySet();
  private final Watches watches = new Watches();
  private final AtomicBoolean lookDue = new AtomicBoolean();
  private final Runnable observer = this::lookSoon;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().name("discovery-memory").factory());
  private final MemoryBuckets buckets;
  private volatile boolean closed;

  public MemoryDiscovery(MemoryStore store, InstanceId id) {
    this.store = store;
    this.id = id;
    this.buckets = new MemoryBuckets(store, thread);
    store.observe(observer);
  }

  @Override
  public InstanceId instanceId() {
    return id;
  }

  @Override
  public Handle register(DiscoveryRecord record) {
    requireOpen();
    store.put(record);
    own.add(record);
    return () -> unregister(record);
  }

  private void unregister(DiscoveryRecord record) {
    if (own.remove(record)) {
      store.remove(record);
    }
  }

  @Override
  public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
    Watches.requireSamePath(before, now);
    requireOpen();
    if (!own.remove(before)) {
      throw new IllegalStateException(Watches.path(before) + " is not registered here");
    }
    own.add(now);
    store.replace(before, now);
    return () -> unregister(now);
  }

  @Override
  public <R extends DiscoveryRecord> Handle watch(
      Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
    requireOpen();
    var handle = watches.add(kind, listener);
    lookSoon();
    return handle;
  }

  @Override
  public KeyValueStore store() {
    return buckets;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("discovery is closed");
    }
  }

  private void lookSoon() {
    if (!closed && lookDue.compareAndSet(false, true)) {
      try {
        thread.execute(this::look);
      } catch (RejectedExecutionException _) {
        lookDue.set(false); // closed meanwhile: no listener is left
      }
    }
  }

  private void look() {
    lookDue.set(false); // before the look: a change after it causes another look
    if (!closed) {
      watches.report(store.snapshot());
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      store.forget(observer);
      own.forEach(store::remove);
      own.clear();
      buckets.close();
      thread.shutdownNow();
    }
  }
}
