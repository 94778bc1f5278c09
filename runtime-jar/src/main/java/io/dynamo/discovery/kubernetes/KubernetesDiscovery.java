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
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Discovery in Kubernetes. All records of a process are in one {@code DynamoWorkerMetadata} object
 * that its pod owns, written as a whole by server-side apply; the instance id is derived from the
 * object's name. Others see the records while the pod is ready, and lose them when it is not or is
 * gone. A process sees its own records always, so that its readiness may depend on them.
 *
 * <p>One thread reads what the client's informers know, calls the listeners and writes the object
 * again when somebody else has changed or deleted it. While the API server is away, the known
 * records stay. Registering writes on the caller's thread and waits for the API server.
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

  private KubernetesDiscovery(WorkerObjects objects, String objectName) {
    this.objects = objects;
    this.objectName = objectName;
    this.id = ObjectId.of(objectName);
    this.follower =
        Thread.ofPlatform().daemon().name("discovery-kubernetes").unstarted(this::follow);
  }

  /**
   * Connects, deletes what an earlier process has left under the same name and reads all objects;
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
      var discovery = new KubernetesDiscovery(objects, pod.objectName());
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
   * @throws UncheckedIOException when the API server does not take the object; the record is then
   *     not registered
   * @throws IllegalArgumentException when the record's id is above 2^53 - 1
   */
  @Override
  public synchronized Handle register(DiscoveryRecord record) {
    requireOpen();
    requireSafeId(record);
    var path = Watches.path(record);
    var there = own.get(path);
    if (there == null) {
      set(path, null, record);
    } else if (!there.equals(record)) {
      throw new IllegalStateException(path + " is registered with another value");
    }
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
  public synchronized Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
    Watches.requireSamePath(before, now);
    requireOpen();
    var path = Watches.path(before);
    if (!before.equals(own.get(path))) {
      throw new IllegalStateException(path + " is not registered here");
    }
    set(path, before, now);
    return () -> remove(now);
  }

  /** Called with the lock. */
  private void write() {
    written = System.nanoTime();
    objects.write(WorkerMetadata.write(own.values()));
  }

  /** Called with the lock. */
  private void set(String path, @Nullable DiscoveryRecord before, DiscoveryRecord now) {
    own.put(path, now);
    try {
      write();
    } catch (RuntimeException e) {
      if (before == null) {
        own.remove(path);
      } else {
        own.put(path, before);
      }
      wake(); // the object may have been written nevertheless: the follower looks
      throw new UncheckedIOException(
          "cannot write the record " + path, new IOException(e.getMessage(), e));
    }
    wake();
  }

  private synchronized void remove(DiscoveryRecord record) {
    if (closed || !own.remove(Watches.path(record), record)) {
      return;
    }
    wake();
    try {
      write();
    } catch (RuntimeException e) {
      LOG.log(
          Level.WARNING,
          "discovery record " + Watches.path(record) + " stays until Kubernetes answers",
          e);
    }
  }

  /** Called with the lock. */
  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("discovery is closed");
    }
  }

  @Override
  public <R extends DiscoveryRecord> Handle watch(
      Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
    synchronized (this) {
      requireOpen();
    }
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
        } catch (RuntimeException e) {
          following.failed(e);
        }
      }
    } catch (InterruptedException _) {
      // closed
    }
  }

  private void look() {
    var others = new ArrayList<WorkerObjects.Found>();
    WorkerObjects.Found mine = null;
    for (var object : objects.objects()) {
      if (object.name().equals(objectName)) {
        mine = object;
      } else {
        others.add(object);
      }
    }
    var present = view.of(others, objects.ready());
    synchronized (this) {
      if (closed) {
        return;
      }
      present.putAll(own);
    }
    watches.tell(present);
    repair(mine);
  }

  /**
   * Writes the object again when it is not what this process has written last.
   *
   * @param found the object as it was read; may lag
   */
  private synchronized void repair(WorkerObjects.@Nullable Found found) {
    var there = found == null ? Map.of() : view.records(found);
    if (closed || there.equals(own)) {
      unsettled = false;
    } else if (unsettled && System.nanoTime() - written >= SETTLING.toNanos()) {
      write();
    } else {
      unsettled = true;
    }
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
    try {
      objects.delete();
    } catch (RuntimeException e) {
      LOG.log(
          Level.WARNING,
          "the discovery object " + objectName + " was not deleted; it goes with its pod",
          e);
    }
    objects.close();
  }
}
