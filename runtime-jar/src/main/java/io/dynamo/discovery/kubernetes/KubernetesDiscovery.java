package io.dynamo.discovery.kubernetes;

import io.dynamo.config.plane.KubernetesSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventSource;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.Outage;
import io.dynamo.discovery.Watches;
import io.dynamo.json.Json;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Discovery in Kubernetes. All records of a process are in one {@code DynamoWorkerMetadata} object
 * that its pod owns, written as a whole by server-side apply; the instance id is derived from the
 * object's name. Others see the records while the pod is ready, and lose them when it is not or is
 * gone. A process sees its own records always, so that its readiness may depend on them.
 *
 * <p>One thread reads what the client's informers know and calls the listeners; when somebody else
 * has changed or deleted the object, a second writes it again. While the API server is away, the
 * known records stay. Registering and unregistering write on the caller's thread: they wait for the
 * API server and, a bounded time, for each other; nobody else waits for them.
 */
public final class KubernetesDiscovery implements Discovery {
  private static final System.Logger LOG = System.getLogger(KubernetesDiscovery.class.getName());
  private static final Duration GATHERING = Duration.ofMillis(100); // changes that come together
  private static final Duration SETTLING = Duration.ofSeconds(2); // until a write is read back
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(30); // without a reason

  private final InstanceId id;
  private final WorkerObjects objects;
  private final String objectName;
  private final ObjectsView view = new ObjectsView();
  private final Watches watches = new Watches();
  private final Duration patience;
  private final ReentrantLock turn = new ReentrantLock(true); // of the one that writes the object
  private final Map<String, DiscoveryRecord> own = new HashMap<>(); // by path; guarded by this
  private long written; // when the object was written last, nanoseconds; guarded by this
  private boolean unsettled; // the object that was read is not what was written; guarded by this
  private boolean closed; // guarded by this
  private @Nullable Long brokenSince; // nanoseconds; by the follower only
  private final Semaphore changed = new Semaphore(0);
  private final Thread follower;
  private final Outage following = // by the follower only
      new Outage(
          KubernetesDiscovery.class,
          "Kubernetes is not followed; known records stay, new ones wait",
          "Kubernetes is followed again");

  private final Outage repairing = // in turn only
      new Outage(
          KubernetesDiscovery.class,
          "the Kubernetes object of this process, which somebody has changed, cannot be written",
          "the Kubernetes object of this process is written again");

  /**
   * @param patience how long a call that writes waits for those before it
   */
  private KubernetesDiscovery(WorkerObjects objects, String objectName, Duration patience) {
    this.objects = objects;
    this.patience = patience;
    this.objectName = objectName;
    this.id = ObjectId.of(objectName);
    this.follower =
        Thread.ofPlatform().daemon().name("discovery-kubernetes").unstarted(this::follow);
  }

  /**
   * Connects, deletes the records of an earlier process of the same name and reads all objects;
   * waits for the API server, at most for the settings' start timeout.
   *
   * @throws IllegalStateException when the pod is unknown, or the API server does not answer in
   *     time or refuses
   */
  public static KubernetesDiscovery open(KubernetesSettings settings) {
    return open(settings, PodIdentity.of(settings, Path.of(PodIdentity.POD_INFO)));
  }

  static KubernetesDiscovery open(KubernetesSettings settings, PodIdentity pod) {
    var objects = new WorkerObjects(settings, pod);
    try {
      var discovery =
          new KubernetesDiscovery(
              objects, pod.objectName(), WorkerObjects.longestCall(settings.callTimeout()));
      objects.follow(discovery::wake);
      objects.delete();
      discovery.follower.start();
      return discovery;
    } catch (KubernetesClientException e) {
      objects.close();
      throw new IllegalStateException(
          "the Kubernetes API server refuses to delete the object %s of an earlier process: %s; the service account needs get, list, watch, create, patch and delete on dynamoworkermetadatas"
              .formatted(pod.objectName(), e.getMessage()),
          e);
    } catch (RuntimeException | Error e) {
      objects.close();
      throw e;
    }
  }

  private void wake() {
    changed.release();
  }

  @Override
  public InstanceId instanceId() {
    return id;
  }

  /**
   * Returns the {@code spec.data} of this process's object as JSON, with what is registered now.
   */
  public byte[] metadata() {
    return Json.write(WorkerMetadata.write(snapshot().values()));
  }

  /**
   * @throws UncheckedIOException when the API server does not take the object; the record is then
   *     not registered
   * @throws IllegalArgumentException when the record's id is above 2^53 - 1
   */
  @Override
  public Handle register(DiscoveryRecord record) {
    requireOpen();
    requireSafeId(record);
    inTurn(
        Watches.path(record),
        () -> {
          var there = record(Watches.path(record));
          if (there == null) {
            set(null, record);
          } else if (!there.equals(record)) {
            throw new IllegalStateException(
                Watches.path(record) + " is registered with another value");
          }
        });
    return () -> remove(record);
  }

  /** The API server keeps numbers beyond 2^53 as floating point. */
  private static void requireSafeId(DiscoveryRecord record) {
    long id =
        switch (record) {
          case Instance instance -> instance.id().value();
          case ModelRecord model -> model.id().value();
          case EventChannel channel -> channel.publisherId();
          case EventSource source -> source.publisherId();
        };
    if (id < 0 || id > ObjectId.MAX) {
      throw new IllegalArgumentException(
          "%s has an id above 2^53 - 1, which Kubernetes would change"
              .formatted(Watches.path(record)));
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws UncheckedIOException when the API server does not take the object; {@code before} then
   *     stays registered
   */
  @Override
  public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
    Watches.requireSamePath(before, now);
    inTurn(
        Watches.path(before),
        () -> {
          requireOpen();
          if (!before.equals(record(Watches.path(before)))) {
            throw new IllegalStateException(Watches.path(before) + " is not registered here");
          }
          set(before, now);
        });
    return () -> remove(now);
  }

  private synchronized @Nullable DiscoveryRecord record(String path) {
    return own.get(path);
  }

  /**
   * Runs a change of the object when those before it are done.
   *
   * @throws UncheckedIOException when they take too long
   */
  private void inTurn(String path, Runnable change) {
    if (!isTurn()) {
      throw unwritten(path, "calls to Kubernetes before this one have taken " + patience, null);
    }
    try {
      change.run();
    } finally {
      turn.unlock();
    }
  }

  /** Waits for the calls before this one; the caller unlocks {@link #turn} when it was granted. */
  private boolean isTurn() {
    try {
      return turn.tryLock(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static UncheckedIOException unwritten(
      String path, @Nullable String reason, @Nullable Throwable cause) {
    return new UncheckedIOException(
        "cannot write the record " + path, new IOException(reason, cause));
  }

  /** Writes the object with {@code now} in place of {@code before}. Called in turn. */
  private void set(@Nullable DiscoveryRecord before, DiscoveryRecord now) {
    var path = Watches.path(now);
    var records = snapshot();
    records.put(path, now);
    try {
      write(records);
      keep(path, before, now);
    } catch (IllegalStateException e) { // closed meanwhile
      throw e;
    } catch (RuntimeException e) {
      throw unwritten(path, e.getMessage(), e);
    } finally {
      wake(); // the object may have been written also when the call failed
    }
  }

  private synchronized Map<String, DiscoveryRecord> snapshot() {
    return new HashMap<>(own);
  }

  /** Records the object that was written, unless it was removed while it was being replaced. */
  private synchronized void keep(
      String path, @Nullable DiscoveryRecord before, DiscoveryRecord now) {
    requireOpen();
    if (before == null) {
      own.put(path, now);
    } else {
      own.replace(path, before, now);
    }
  }

  /** Writes the object. Called in turn. */
  private void write(Map<String, DiscoveryRecord> records) {
    try {
      objects.write(WorkerMetadata.write(records.values()));
    } finally {
      synchronized (this) {
        written = System.nanoTime();
      }
    }
  }

  private void remove(DiscoveryRecord record) {
    var path = Watches.path(record);
    synchronized (this) {
      if (closed || !own.remove(path, record)) {
        return;
      }
    }
    try {
      inTurn(path, () -> write(snapshot()));
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "discovery record " + path + " stays until Kubernetes answers", e);
    } finally {
      wake();
    }
  }

  private synchronized void requireOpen() {
    if (closed) {
      throw new IllegalStateException("discovery is closed");
    }
  }

  @Override
  public <R extends DiscoveryRecord> Handle watch(
      Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
    requireOpen();
    var handle = watches.add(kind, listener);
    wake();
    return handle;
  }

  private synchronized boolean isSettled() {
    return !unsettled && brokenSince == null;
  }

  /** A watch that stays broken is an outage; the server ends watches at times. */
  private void checkWatches() {
    if (objects.isFollowing()) {
      brokenSince = null;
      following.worked();
      return;
    }
    long now = System.nanoTime();
    if (brokenSince == null) {
      brokenSince = now;
    } else if (now - brokenSince >= SETTLING.toNanos()) {
      following.failed(new IOException("a watch is broken"));
    }
  }

  private void follow() {
    try {
      while (true) {
        var patience = isSettled() ? LOOK_AGAIN : SETTLING;
        if (changed.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
          Thread.sleep(GATHERING);
        }
        changed.drainPermits();
        try {
          look();
          checkWatches();
        } catch (RuntimeException | Error e) { // the thread must go on
          following.failed(e);
        }
      }
    } catch (InterruptedException _) {
      // closed
    }
  }

  private void look() {
    var found = objects.objects();
    var ready = objects.ready();
    ready.remove(objectName); // its own records are known here; what was read may lag behind
    var present = view.of(found, ready);
    synchronized (this) {
      if (closed) {
        return;
      }
      present.putAll(own);
    }
    watches.report(present);
    repair(found);
  }

  /**
   * Writes the object again when it differs from this process's last write.
   *
   * @param found all objects as they were read; may lag
   */
  private void repair(List<WorkerObjects.WorkerObject> found) {
    var there =
        found.stream()
            .filter(object -> object.name().equals(objectName) && view.isUnderstood(object))
            .findFirst()
            .map(view::records)
            .orElse(Map.of());
    if (isRepairDue(there)) { // on a thread of its own: listeners do not wait for a slow call
      Thread.ofVirtual().name("discovery-kubernetes-repair").start(this::writeAgain);
    }
  }

  private void writeAgain() {
    if (!turn.tryLock()) {
      return; // somebody writes now; the follower looks again
    }
    try {
      if (!isClosed()) {
        write(snapshot());
        repairing.worked();
      }
    } catch (RuntimeException e) {
      repairing.failed(e);
    } finally {
      turn.unlock();
    }
  }

  private synchronized boolean isRepairDue(Map<String, DiscoveryRecord> there) {
    boolean settled = closed || there.equals(own);
    boolean due = !settled && unsettled && System.nanoTime() - written >= SETTLING.toNanos();
    unsettled = !settled;
    return due;
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      own.clear();
    }
    follower.interrupt();
    boolean last = isTurn(); // or else a write that hangs may be later than this
    try {
      objects.delete();
    } catch (RuntimeException e) {
      LOG.log(
          Level.WARNING,
          "the discovery object " + objectName + " was not deleted; it goes with its pod",
          e);
    } finally {
      if (last) {
        turn.unlock();
      }
    }
    objects.close();
  }
}
