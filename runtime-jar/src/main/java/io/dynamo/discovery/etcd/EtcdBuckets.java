package io.dynamo.discovery.etcd;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.Outage;
import io.dynamo.discovery.etcd.EtcdStore.Condition;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.discovery.store.BucketWatch;
import io.dynamo.discovery.store.KeyValueStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Buckets in etcd: a key is the bucket's name, a slash and the key, its revision that of etcd. Each
 * watch has a virtual thread of its own. Safe for concurrent use.
 */
final class EtcdBuckets implements KeyValueStore, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EtcdBuckets.class.getName());
  private static final Duration IDLE = Duration.ofMinutes(1); // without a reason to wake

  private final EtcdStore store;
  private final StoreGuard guard;
  private final RandomGenerator random;
  private final Set<BucketFollower> followings = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param guard runs the calls
   * @param random for pauses
   */
  EtcdBuckets(EtcdStore store, StoreGuard guard, RandomGenerator random) {
    this.store = store;
    this.guard = guard;
    this.random = random;
  }

  @Override
  public Bucket bucket(BucketName name) {
    return new OneBucket(name);
  }

  private <T> T ask(String path, Supplier<T> call) {
    var answer = new AtomicReference<@Nullable T>();
    try {
      guard.run(() -> answer.set(call.get()));
    } catch (LeaseLostException e) {
      throw new UncheckedIOException(
          new IOException(
              path + " is not written: the lease of this process was lost; try again shortly", e));
    } catch (StoreUnavailableException e) {
      throw new UncheckedIOException(new IOException(path + ": " + e.getMessage(), e));
    }
    return Objects.requireNonNull(answer.get());
  }

  private final class OneBucket implements Bucket {
    private final BucketName name;

    OneBucket(BucketName name) {
      this.name = name;
    }

    private String path(String key) {
      return name + "/" + key;
    }

    @Override
    public Optional<Entry> get(String key) {
      return ask(path(key), () -> Optional.ofNullable(store.readEntry(path(key))));
    }

    @Override
    public Map<String, Entry> entries() {
      return ask(path(""), () -> store.readEntries(path("")).values());
    }

    @Override
    public OptionalLong create(String key, byte[] value) {
      return write(key, value, Condition.ABSENT);
    }

    @Override
    public OptionalLong replace(String key, byte[] value, long revision) {
      return write(key, value, new Condition(revision));
    }

    private OptionalLong write(String key, byte[] value, Condition condition) {
      if (value.length > MAX_VALUE_BYTES) {
        throw new IllegalArgumentException(
            "the value of %s has %d bytes, more than %d"
                .formatted(path(key), value.length, MAX_VALUE_BYTES));
      }
      var attempt = new Attempt();
      var outcome =
          ask(
              path(key),
              () -> {
                attempt.begin();
                return store.write(path(key), value, condition);
              });
      var there = outcome.there();
      if (outcome.done()) {
        return OptionalLong.of(outcome.revision());
      }
      return attempt.isRepeated() && there != null && there.isOurs() && there.has(value)
          ? OptionalLong.of(there.entry().revision()) // an attempt before had taken effect
          : OptionalLong.empty();
    }

    @Override
    public boolean delete(String key, long revision) {
      var attempt = new Attempt();
      var outcome =
          ask(
              path(key),
              () -> {
                attempt.begin();
                return store.delete(path(key), new Condition(revision));
              });
      return outcome.done() || (attempt.isRepeated() && outcome.there() == null);
    }

    @Override
    public Discovery.Handle watch(Consumer<Map<String, Entry>> listener) {
      var following = new BucketFollower(new BucketWatch(name, listener));
      following.start();
      return following;
    }
  }

  /** Counts the attempts of one call. Confined to one thread. */
  private static final class Attempt {
    private int number;

    void begin() {
      number++;
    }

    boolean isRepeated() {
      return number > 1;
    }
  }

  /** Follows one bucket for one listener. */
  private final class BucketFollower implements Discovery.Handle {
    private final BucketWatch watch;
    private final String prefix;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final RetryPause retry = new RetryPause(random);
    private final Outage outage;
    private final Map<String, Bucket.Entry> state = new HashMap<>(); // by the thread only
    private volatile ChangeQueue changes = new ChangeQueue();
    private final Thread thread;

    BucketFollower(BucketWatch watch) {
      this.watch = watch;
      prefix = watch.bucket() + "/";
      outage =
          new Outage(
              EtcdBuckets.class,
              "etcd is out of reach; changes of " + prefix + " wait",
              prefix + " in etcd is followed again");
      thread = Thread.ofVirtual().name("discovery-etcd-bucket").unstarted(this::follow);
    }

    void start() {
      followings.add(this);
      thread.start();
      if (closed) { // the closing thread may not have seen it
        close();
      }
    }

    private void follow() {
      try {
        do {
          try {
            followUntilGap();
          } catch (StoreGapException e) {
            LOG.log(Level.DEBUG, "{0} is read again: {1}", prefix, e.getMessage());
          } catch (RuntimeException | Error e) { // the thread must go on
            if (closing.getCount() > 0) {
              outage.failed(e);
            }
          }
        } while (!closing.await(retry.next().toNanos(), TimeUnit.NANOSECONDS));
      } catch (InterruptedException _) {
        return; // closed
      }
    }

    private void followUntilGap() throws InterruptedException {
      var queue = new ChangeQueue();
      changes = queue; // before the look: a gap that is found after it ends this queue
      var snapshot = store.readEntries(prefix);
      state.clear();
      state.putAll(snapshot.values());
      try (var _ = store.watch(prefix, snapshot.revision() + 1, queue)) {
        outage.worked();
        retry.reset();
        while (closing.getCount() > 0) {
          watch.report(state);
          queue.next(IDLE).forEach(this::apply);
        }
      }
    }

    private void apply(StoreChange change) {
      var key = change.key().substring(prefix.length());
      switch (change) {
        case StoreChange.Put put -> state.put(key, new Bucket.Entry(put.value(), put.revision()));
        case StoreChange.Deleted _ -> state.remove(key);
      }
    }

    @Override
    public void close() {
      watch.close();
      closing.countDown();
      thread.interrupt();
      followings.remove(this);
    }
  }

  /** Has all watches read their buckets again, because changes may have been missed. */
  void breakOff(String why) {
    followings.forEach(following -> following.changes.breakOff(why));
  }

  /** Ends all watches. */
  @Override
  public void close() {
    closed = true;
    followings.forEach(BucketFollower::close);
  }
}
