package io.dynamo.discovery.file;

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
import io.dynamo.discovery.store.KeyValueStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Discovery in a shared directory. One thread looks at the store and calls the listeners; a second
 * renews this process's records, independently of listeners, and writes vanished ones again; a
 * third waits for the kernel's notifications of created and deleted files. A notification only
 * hastens a look: the store is looked at every period in any case, which also finds files changed
 * in place. Registering and unregistering write to the store on the caller's thread.
 */
public final class FileDiscovery implements Discovery, KeyValueStore.Owner {
  private static final System.Logger LOG = System.getLogger(FileDiscovery.class.getName());
  private static final List<String> BUCKETS =
      List.of(Instance.BUCKET, ModelRecord.BUCKET, EventChannel.BUCKET, EventSource.BUCKET);
  private static final long LOOK_DELAY_MILLIS = 10; // gathers a burst of changes into one look

  /** The source of the kernel's notifications of changes. */
  @FunctionalInterface
  interface DirectoryWatch {
    /**
     * @throws IOException when the kernel grants no further watch: their number is bounded for each
     *     user
     */
    WatchService open() throws IOException;
  }

  private final InstanceId id;
  private final InstantSource clock;
  private final StoreFolder folder;
  private final RecordFiles files;
  private final FileBuckets buckets;
  private final StoreView view;
  private final Watches watches = new Watches();
  private final Set<DiscoveryRecord> own = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean lookDue = new AtomicBoolean();
  private final ScheduledThreadPoolExecutor looks;
  private final ScheduledThreadPoolExecutor lease;
  private final DirectoryWatch watch;
  private volatile @Nullable WatchService directories; // created by a look
  private final Map<String, WatchKey> watched = new HashMap<>(); // by looks only
  private final Outage store = // by looks only
      new Outage(
          FileDiscovery.class,
          "the discovery store is out of reach; known records stay",
          "the discovery store is back");
  private final Outage kernel = // by looks only
      new Outage(
          FileDiscovery.class,
          "the discovery store cannot be watched; changes are seen at the next look",
          "the discovery store is watched again");
  private final Outage renewals = // by lease only
      new Outage(
          FileDiscovery.class,
          "discovery records of ours cannot be renewed; others will see them vanish",
          "all discovery records of ours are renewed again");
  private final Object writing = new Object(); // orders writes of own records against each other
  private volatile boolean closed;

  /**
   * Opens an unshared store; see {@link #FileDiscovery(Path, boolean, Duration, InstanceId,
   * InstantSource)}.
   */
  public FileDiscovery(Path root, Duration leaseTtl, InstanceId id, InstantSource clock) {
    this(root, false, leaseTtl, id, clock);
  }

  /**
   * Creates missing directories. The first look follows on a separate thread.
   *
   * @param shared whether other users of the host may own or write the store; otherwise it is
   *     created for the user of this process, and refused when others can write it
   * @param leaseTtl how long a record outlives its last renewal. Own records are renewed, and the
   *     store is looked at, at a third of it, but at most once a second
   * @param clock the times that renewed files show to other processes
   * @throws UncheckedIOException when the store cannot be written, or is refused
   */
  public FileDiscovery(
      Path root, boolean shared, Duration leaseTtl, InstanceId id, InstantSource clock) {
    this(root, shared, leaseTtl, id, clock, root.getFileSystem()::newWatchService);
  }

  FileDiscovery(
      Path root,
      boolean shared,
      Duration leaseTtl,
      InstanceId id,
      InstantSource clock,
      DirectoryWatch watch) {
    this.watch = watch;
    this.id = id;
    this.clock = clock;
    try {
      this.folder = shared ? StoreFolder.shared(root) : StoreFolder.personal(root);
      for (var bucket : BUCKETS) {
        folder.make(bucket);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot use the discovery folder %s of dynamo.discovery.file-root: %s"
              .formatted(root, e instanceof FileSystemException ? e : e.getMessage()),
          e);
    }
    this.files = new RecordFiles(folder, new SecureRandom()::nextLong);
    this.buckets = new FileBuckets(folder, files, leaseTtl, clock, this::lookSoon, this::pollSoon);
    this.view = new StoreView(folder, BUCKETS, leaseTtl, clock, System::nanoTime);
    this.looks = thread("discovery-file");
    this.lease = thread("discovery-file-lease");
    long periodMillis = Math.max(1000, leaseTtl.toMillis() / 3);
    var _ =
        lease.scheduleAtFixedRate(this::renew, periodMillis, periodMillis, TimeUnit.MILLISECONDS);
    var _ = looks.scheduleAtFixedRate(this::poll, 0, periodMillis, TimeUnit.MILLISECONDS);
  }

  private static ScheduledThreadPoolExecutor thread(String name) {
    return new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name(name).factory());
  }

  @Override
  public InstanceId instanceId() {
    return id;
  }

  /**
   * @throws UncheckedIOException when the store cannot be written
   */
  @Override
  public Handle register(DiscoveryRecord record) {
    synchronized (writing) {
      requireOpen();
      try {
        if (!files.create(record, clock.instant()) && !files.holds(record)) {
          throw new IllegalStateException(
              Watches.path(record) + " is registered with another value");
        }
      } catch (IOException e) {
        throw new UncheckedIOException("cannot write the record " + Watches.path(record), e);
      }
      own.add(record);
    }
    lookSoon();
    return () -> unregister(record);
  }

  /**
   * {@inheritDoc}
   *
   * @throws UncheckedIOException when the store cannot be written; the stored record is then
   *     unchanged
   */
  @Override
  public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
    Watches.requireSamePath(before, now);
    synchronized (writing) {
      requireOpen();
      if (!own.contains(before)) {
        throw new IllegalStateException(Watches.path(before) + " is not registered here");
      }
      try {
        files.replace(now, clock.instant());
      } catch (IOException e) {
        throw new UncheckedIOException("cannot write the record " + Watches.path(now), e);
      }
      own.remove(before);
      own.add(now);
    }
    lookSoon();
    return () -> unregister(now);
  }

  private void unregister(DiscoveryRecord record) {
    synchronized (writing) {
      if (!own.remove(record)) {
        return;
      }
      try {
        files.delete(record);
      } catch (IOException e) {
        LOG.log(
            Level.WARNING,
            "discovery record " + files.file(record) + " stays until its lease ends",
            e);
      }
    }
    lookSoon();
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
        var _ = looks.schedule(this::look, LOOK_DELAY_MILLIS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException _) {
        lookDue.set(false); // closed meanwhile: no listener is left
      }
    }
  }

  private void pollSoon() {
    try {
      looks.execute(this::poll);
    } catch (RejectedExecutionException _) {
      return; // closed: no listener is left
    }
  }

  /** Renews this process's records, each independently, and writes vanished ones again. */
  private void renew() {
    Throwable failure = null;
    for (var record : own) {
      try {
        synchronized (writing) {
          if (own.contains(record) && !files.touch(record, clock.instant())) {
            files.create(record, clock.instant());
          }
        }
      } catch (IOException | RuntimeException | Error e) { // a task that throws would not run again
        failure = e;
      }
    }
    try {
      buckets.renew();
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    }
    if (closed) {
      return;
    }
    if (failure == null) {
      renewals.worked();
    } else {
      renewals.failed(failure);
    }
  }

  private void poll() {
    try {
      synchronized (writing) {
        if (!closed) { // after that no directory is created again
          watchDirectories();
        }
      }
      kernel.worked();
    } catch (IOException | RuntimeException | Error e) {
      if (!closed) {
        kernel.failed(e);
      }
    }
    look();
  }

  private void look() {
    lookDue.set(false); // before the look: a change after it causes another look
    if (closed) {
      return;
    }
    try {
      watches.report(view.look());
      buckets.report();
      store.worked();
    } catch (IOException | RuntimeException | Error e) {
      if (!closed) {
        store.failed(e);
      }
    }
  }

  /** Registers a kernel watch for each directory, again for one that had vanished. */
  private void watchDirectories() throws IOException {
    var service = directories;
    if (service == null) {
      service = openWatch();
    }
    var all = new ArrayList<>(BUCKETS);
    all.addAll(buckets.watchedDirectories());
    watched.keySet().removeIf(bucket -> isUnwatched(bucket, all));
    for (var bucket : all) {
      var key = watched.get(bucket);
      if (key == null || !key.isValid()) {
        watched.put(
            bucket,
            folder
                .make(bucket)
                .register(
                    service,
                    StandardWatchEventKinds.ENTRY_CREATE,
                    StandardWatchEventKinds.ENTRY_DELETE));
      }
    }
  }

  private boolean isUnwatched(String bucket, List<String> all) {
    boolean unwatched = !all.contains(bucket);
    if (unwatched) {
      Objects.requireNonNull(watched.get(bucket)).cancel();
    }
    return unwatched;
  }

  private WatchService openWatch() throws IOException {
    var service = watch.open();
    directories = service;
    if (closed) {
      service.close(); // the closing thread did not see it
    }
    Thread.ofPlatform().daemon().name("discovery-file-watch").start(() -> waitForChanges(service));
    return service;
  }

  private void waitForChanges(WatchService service) {
    try {
      while (!closed) {
        var key = service.take();
        key.pollEvents();
        key.reset();
        lookSoon();
      }
    } catch (ClosedWatchServiceException | InterruptedException _) {
      return; // closed
    }
  }

  @Override
  public void close() {
    synchronized (writing) {
      if (closed) {
        return;
      }
      closed = true;
    }
    looks.shutdownNow();
    lease.shutdownNow();
    List.copyOf(own).forEach(this::unregister);
    buckets.close();
    var service = directories;
    try {
      if (service != null) {
        service.close();
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "closing the directory watch failed", e);
    }
  }
}
