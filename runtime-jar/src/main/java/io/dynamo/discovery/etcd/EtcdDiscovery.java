package io.dynamo.discovery.etcd;

import io.dynamo.config.plane.EtcdSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.Outage;
import io.dynamo.discovery.Watches;
import io.dynamo.discovery.store.KeyValueStore;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Discovery in etcd. One thread follows the store and calls the listeners; a second renews the
 * lease of this process and repairs its records. Registering and unregistering write on the
 * caller's thread and wait for etcd, at most for the settings' call timeout.
 *
 * <p>All records of a process are under one lease, whose id is its instance id. When etcd does not
 * know the lease any more, the process asks for it again under the same id and writes its records
 * again: running requests do not notice.
 *
 * <p>While etcd is away, the known records stay. After every interruption of the watch the whole
 * store is read again, and listeners hear the difference. When etcd returns without its data, the
 * known records stay for one more lease, in which their owners write them again.
 */
public final class EtcdDiscovery implements Discovery, KeyValueStore.Owner {
  private static final System.Logger LOG = System.getLogger(EtcdDiscovery.class.getName());
  private static final String PREFIX = "v1/"; // of all buckets
  private static final Duration RENEW_AGAIN = Duration.ofSeconds(1); // after a failed renewal

  /** How long the thread that follows the store waits without a reason to wake. */
  private static final Duration IDLE = Duration.ofMinutes(1);

  private final InstanceId id;
  private final EtcdStore store;
  private final EtcdView view = new EtcdView();
  private final Watches watches = new Watches();
  private final OwnRecords own;
  private final EtcdBuckets buckets;
  private final Duration leaseTtl;
  private final RetryPause retry;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread follower;
  private final Thread renewer;
  private long awaitedUntil; // by the follower only; on System.nanoTime
  private volatile ChangeQueue changes = new ChangeQueue();
  private final Outage following = // by the follower only
      new Outage(
          EtcdDiscovery.class,
          "etcd is out of reach; known records stay, new ones wait",
          "etcd is followed again");
  private final Outage renewing = // by the renewer only
      new Outage(
          EtcdDiscovery.class,
          "the lease of this process in etcd cannot be renewed; when it ends, others lose its"
              + " records until etcd is back",
          "the lease of this process in etcd is renewed again");

  private EtcdDiscovery(
      EtcdStore store,
      EtcdSettings settings,
      InstanceId id,
      StoreGuard guard,
      RandomGenerator random) {
    this.id = id;
    this.store = store;
    this.own = new OwnRecords(store, guard, settings.callTimeout().multipliedBy(2));
    this.buckets = new EtcdBuckets(store, guard, random);
    this.leaseTtl = settings.leaseTtl();
    this.retry = new RetryPause(random);
    this.follower = Thread.ofPlatform().daemon().name("discovery-etcd").unstarted(this::follow);
    this.renewer =
        Thread.ofPlatform().daemon().name("discovery-etcd-lease").unstarted(this::keepLease);
  }

  /**
   * Connects and takes a lease; waits for etcd, at most for the settings' start timeout.
   *
   * @param id the instance id and the id of the lease: positive, since etcd's ids are signed
   * @param guard runs the calls by which records are registered and unregistered
   * @param random for pauses
   * @throws IllegalArgumentException when {@code id} is not positive
   * @throws IllegalStateException when etcd does not answer in time
   */
  public static EtcdDiscovery open(
      EtcdSettings settings, InstanceId id, StoreGuard guard, RandomGenerator random) {
    if (id.value() <= 0) {
      throw new IllegalArgumentException("the id " + id + " cannot be that of a lease");
    }
    var store = new EtcdStore(settings, id.value());
    try {
      connect(store, settings, random);
    } catch (RuntimeException | Error e) {
      store.close();
      throw e;
    }
    var discovery = new EtcdDiscovery(store, settings, id, guard, random);
    discovery.follower.start();
    discovery.renewer.start();
    return discovery;
  }

  private static void connect(EtcdStore store, EtcdSettings settings, RandomGenerator random) {
    long begun = System.nanoTime();
    var retry = new RetryPause(random);
    var outage =
        new Outage(
            EtcdDiscovery.class,
            "etcd at %s does not answer; the start waits up to %s for it"
                .formatted(settings.endpoints(), settings.startTimeout()),
            "etcd answers");
    while (true) {
      try {
        store.grant();
        outage.worked();
        return;
      } catch (StoreUnavailableException e) {
        if (Thread.currentThread().isInterrupted()
            || System.nanoTime() - begun > settings.startTimeout().toNanos()) {
          throw new IllegalStateException(
              "etcd at %s did not answer within %s: %s; start it, correct dynamo.discovery.etcd.endpoints or raise dynamo.discovery.etcd.start-timeout"
                  .formatted(settings.endpoints(), settings.startTimeout(), e.getMessage()),
              e);
        }
        outage.failed(e);
        pause(retry.next());
      }
    }
  }

  private static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public InstanceId instanceId() {
    return id;
  }

  /**
   * @throws java.io.UncheckedIOException when etcd does not answer; the record is then not
   *     registered
   */
  @Override
  public Handle register(DiscoveryRecord record) {
    own.add(record);
    return () -> own.remove(record);
  }

  /**
   * {@inheritDoc}
   *
   * @throws java.io.UncheckedIOException when etcd does not answer; {@code before} then stays
   *     registered
   */
  @Override
  public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
    Watches.requireSamePath(before, now);
    own.replace(before, now);
    return () -> own.remove(now);
  }

  @Override
  public <R extends DiscoveryRecord> Handle watch(
      Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
    own.requireOpen();
    var handle = watches.add(kind, listener);
    changes.wake();
    return handle;
  }

  @Override
  public KeyValueStore store() {
    return buckets;
  }

  private void follow() {
    while (closing.getCount() > 0) {
      try {
        followUntilGap();
      } catch (StoreGapException e) {
        LOG.log(Level.DEBUG, "etcd is read again: {0}", e.getMessage());
      } catch (InterruptedException _) {
        return; // closed
      } catch (RuntimeException | Error e) { // the thread must go on
        if (closing.getCount() > 0) {
          following.failed(e);
        }
      }
      if (isClosingWithin(retry.next())) {
        return;
      }
    }
  }

  /** Reads the store, then follows its changes until one may have been missed. */
  private void followUntilGap() throws InterruptedException {
    var queue = new ChangeQueue();
    changes =
        queue; // before the listeners hear of this look: one that comes later wakes this queue
    var snapshot = store.read(PREFIX);
    boolean awaitedBefore = view.hasAwaited();
    view.replace(snapshot);
    if (!awaitedBefore) {
      awaitedUntil = System.nanoTime() + leaseTtl.toNanos();
    }
    try (var _ = store.watch(PREFIX, snapshot.revision() + 1, queue)) {
      following.worked();
      retry.reset();
      watches.report(view.records());
      while (true) {
        queue.next(patience()).forEach(view::apply);
        if (System.nanoTime() - awaitedUntil >= 0) {
          view.dropAwaited();
        }
        watches.report(view.records());
      }
    }
  }

  private Duration patience() {
    return view.hasAwaited()
        ? Duration.ofNanos(Math.clamp(awaitedUntil - System.nanoTime(), 0, IDLE.toNanos()))
        : IDLE;
  }

  private void keepLease() {
    var renewal = leaseTtl.dividedBy(3);
    var pause = renewal;
    while (!isClosingWithin(pause)) {
      try {
        long known = view.revision();
        if (store.renew() < known) {
          breakOff("its revision is lower than before");
        }
        own.repair(view.records());
        renewing.worked();
        pause = renewal;
      } catch (LeaseLostException _) {
        pause = regain() ? renewal : RENEW_AGAIN;
      } catch (RuntimeException | Error e) { // the thread must go on
        failed(e);
        pause = RENEW_AGAIN;
      }
    }
  }

  private boolean regain() {
    try {
      own.writeAgain();
    } catch (RuntimeException e) {
      failed(e);
      return false;
    }
    breakOff("the lease was lost");
    renewing.worked();
    return true;
  }

  /** Has everything that is followed be read again. */
  private void breakOff(String why) {
    changes.breakOff(why);
    buckets.breakOff(why);
  }

  private void failed(Throwable failure) {
    if (closing.getCount() > 0) {
      renewing.failed(failure);
    }
  }

  private boolean isClosingWithin(Duration time) {
    try {
      return closing.await(time.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException _) {
      return true;
    }
  }

  @Override
  public void close() {
    closing.countDown();
    follower.interrupt();
    buckets.close();
    if (own.close()) { // the renewer is not interrupted: its call may write, and comes before
      try {
        own.endLease();
      } catch (RuntimeException e) {
        LOG.log(
            Level.WARNING,
            "the lease in etcd was not ended; the records stay until it runs out",
            e);
      }
      store.close();
    }
  }
}
