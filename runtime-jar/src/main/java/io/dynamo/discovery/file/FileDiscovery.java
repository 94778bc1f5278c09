package io.dynamo.discovery.file;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.Watches;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Discovery in a shared directory. One thread looks at the store, renews what is ours and calls the
 * listeners; a second one waits for the kernel's word that a directory has changed. That word only
 * hastens a look: there is one at every renewal in any case, and what is ours is written again when
 * it has vanished. Registering and unregistering write to the store on the caller's thread.
 */
public final class FileDiscovery implements Discovery {
  private static final System.Logger LOG = System.getLogger(FileDiscovery.class.getName());
  private static final List<String> BUCKETS = List.of(Instance.BUCKET, ModelRecord.BUCKET);
  private static final long LOOK_DELAY_MILLIS = 10; // gathers a burst of changes into one look

  private final InstanceId id;
  private final InstantSource clock;
  private final RecordFiles files;
  private final StoreView view;
  private final Watches watches = new Watches();
  private final Set<DiscoveryRecord> own = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean lookDue = new AtomicBoolean();
  private final ScheduledThreadPoolExecutor thread;
  private final WatchService directories;
  private final Map<String, WatchKey> watched = new HashMap<>(); // touched by the thread only
  private final Object writing = new Object(); // orders writes of our records against each other
  private boolean degraded; // touched by the thread only
  private volatile boolean closed;

  /**
   * Makes the directories that are missing and looks for the first time.
   *
   * @param leaseTtl how long a record outlives the last renewal; ours are renewed thrice as often,
   *     at most once a second
   * @throws UncheckedIOException when the store cannot be written
   */
  public FileDiscovery(Path root, Duration leaseTtl, InstanceId id, InstantSource clock) {
    this.id = id;
    this.clock = clock;
    this.files = new RecordFiles(root, new SecureRandom()::nextLong);
    this.view = new StoreView(files, BUCKETS, leaseTtl);
    try {
      for (var bucket : BUCKETS) {
        Files.createDirectories(files.directory(bucket));
      }
      this.directories = root.getFileSystem().newWatchService();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot use " + root + "; set dynamo.discovery.file-root to a writable directory", e);
    }
    this.thread =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("discovery-file").factory());
    thread.setRemoveOnCancelPolicy(true);
    long periodMillis = Math.max(1000, leaseTtl.toMillis() / 3);
    var _ = thread.scheduleAtFixedRate(this::renew, 0, periodMillis, TimeUnit.MILLISECONDS);
    Thread.ofPlatform().daemon().name("discovery-file-watch").start(this::waitForChanges);
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

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("discovery is closed");
    }
  }

  private void lookSoon() {
    if (!closed && lookDue.compareAndSet(false, true)) {
      try {
        var _ = thread.schedule(this::look, LOOK_DELAY_MILLIS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException _) {
        lookDue.set(false); // closed meanwhile: there is nobody left to tell
      }
    }
  }

  /** Renews our records, writes again those that have vanished, and looks. */
  void renew() {
    try {
      for (var record : own) {
        synchronized (writing) {
          if (own.contains(record) && !files.touch(record, clock.instant())) {
            files.create(record, clock.instant());
          }
        }
      }
      watchDirectories();
      recovered();
    } catch (IOException | RuntimeException e) {
      degraded(e);
    }
    look();
  }

  private void look() {
    lookDue.set(false); // before the look: what changes after it asks for another
    if (closed) {
      return;
    }
    try {
      watches.tell(view.look(clock.instant()));
    } catch (IOException | RuntimeException e) {
      degraded(e);
    }
  }

  private void degraded(Exception cause) {
    if (!degraded && !closed) {
      degraded = true;
      LOG.log(Level.WARNING, "the discovery store is out of reach; known records stay", cause);
    }
  }

  private void recovered() {
    if (degraded) {
      degraded = false;
      LOG.log(Level.INFO, "the discovery store is back");
    }
  }

  /** Asks the kernel about each directory; again about one that had vanished. */
  private void watchDirectories() throws IOException {
    for (var bucket : BUCKETS) {
      var key = watched.get(bucket);
      if (key == null || !key.isValid()) {
        watched.put(
            bucket,
            Files.createDirectories(files.directory(bucket))
                .register(
                    directories,
                    StandardWatchEventKinds.ENTRY_CREATE,
                    StandardWatchEventKinds.ENTRY_DELETE));
      }
    }
  }

  private void waitForChanges() {
    try {
      while (!closed) {
        var key = directories.take();
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
    thread.shutdownNow();
    List.copyOf(own).forEach(this::unregister);
    try {
      directories.close();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "closing the directory watch failed", e);
    }
  }
}
