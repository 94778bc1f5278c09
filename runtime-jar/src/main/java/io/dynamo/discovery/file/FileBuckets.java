package io.dynamo.discovery.file;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.discovery.store.BucketWatch;
import io.dynamo.discovery.store.KeyValueStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Buckets in a shared directory: each is a directory, each key a file with Dynamo's name for it. A
 * file lives while its owner renews its time, as records do; here the wall clock alone decides.
 * Writes are ordered by a lock on a file, which processes of ours respect; files of owners that
 * have been silent for twice the time of a lease are deleted. {@link #renew} and {@link #report}
 * are called on threads of discovery, the rest on any.
 */
final class FileBuckets implements KeyValueStore {
  private static final System.Logger LOG = System.getLogger(FileBuckets.class.getName());

  private record OwnKey(BucketName bucket, String key) {}

  private final StoreFolder folder;
  private final RecordFiles files;
  private final WriteLocks locks;
  private final Duration leaseTtl;
  private final InstantSource clock;
  private final Runnable lookSoon;
  private final Runnable watchSoon;
  private final Map<OwnKey, Long> own = new ConcurrentHashMap<>(); // revisions
  private final Set<BucketName> used = ConcurrentHashMap.newKeySet(); // written by this process
  private final List<BucketWatch> watches = new CopyOnWriteArrayList<>();
  private volatile boolean closed;

  /**
   * @param lookSoon schedules a call of {@link #report}
   * @param watchSoon the same, after {@link #watchedDirectories} have been asked for
   */
  FileBuckets(
      StoreFolder folder,
      RecordFiles files,
      Duration leaseTtl,
      InstantSource clock,
      Runnable lookSoon,
      Runnable watchSoon) {
    this.folder = folder;
    this.files = files;
    this.locks = new WriteLocks(folder);
    this.leaseTtl = leaseTtl;
    this.clock = clock;
    this.lookSoon = lookSoon;
    this.watchSoon = watchSoon;
  }

  @Override
  public Bucket bucket(BucketName name) {
    return new OneBucket(name);
  }

  /** Returns the directories whose changes should cause a look. */
  List<String> watchedDirectories() {
    return watches.stream().map(watch -> watch.bucket().text()).distinct().toList();
  }

  /** Reports changed buckets to the listeners. */
  void report() throws IOException {
    forEach(watches, watch -> watch.report(entries(watch.bucket())));
  }

  @FunctionalInterface
  private interface Step<T> {
    void run(T item) throws IOException;
  }

  /** Runs all steps, even when some of them fail. */
  private static <T> void forEach(Iterable<T> items, Step<T> step) throws IOException {
    IOException failure = null;
    for (var item : items) {
      try {
        step.run(item);
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Renews the keys of this process; one that somebody has replaced or deleted is left alone. */
  void renew() throws IOException {
    forEach(Map.copyOf(own).entrySet(), each -> renew(each.getKey(), each.getValue()));
    forEach(used, this::deleteDead);
  }

  private void deleteDead(BucketName bucket) throws IOException {
    var dead = new ArrayList<Path>();
    try {
      folder.check(bucket.text());
      try (var found = Files.newDirectoryStream(folder.directory(bucket.text()), this::isDead)) {
        found.forEach(dead::add);
      }
    } catch (NoSuchFileException _) {
      return;
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    if (dead.isEmpty()) {
      return;
    }
    try {
      var _ =
          inTurn(
              bucket,
              dead.size() + " files of dead owners",
              () -> {
                for (var file : dead) {
                  if (isDead(file)) { // nobody has written it meanwhile
                    Files.deleteIfExists(file);
                  }
                }
                return true;
              });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private boolean isDead(Path file) throws IOException {
    try {
      var status = folder.status(file);
      var ends = status.stamp().changed().toInstant().plus(leaseTtl.multipliedBy(2));
      return status.isRegular() && folder.trusts(status.user()) && ends.isBefore(clock.instant());
    } catch (NoSuchFileException | AccessDeniedException _) {
      return false;
    }
  }

  private void renew(OwnKey at, long revision) throws IOException {
    var entry = read(at.bucket, at.key);
    if (entry != null && entry.revision() == revision) {
      Files.setLastModifiedTime(file(at.bucket, at.key), FileTime.from(clock.instant()));
    } else {
      own.remove(at, revision);
    }
  }

  /** Deletes the keys of this process. */
  void close() {
    closed = true;
    own.forEach(
        (at, revision) -> {
          try {
            var _ = bucket(at.bucket).delete(at.key, revision);
          } catch (UncheckedIOException e) {
            LOG.log(Level.WARNING, at.bucket + "/" + at.key + " stays until its lease ends", e);
          }
        });
  }

  private Path file(BucketName bucket, String key) {
    return folder.directory(bucket.text()).resolve(FileNames.encode(key));
  }

  private Map<String, Bucket.Entry> entries(BucketName bucket) throws IOException {
    var entries = new HashMap<String, Bucket.Entry>();
    try {
      folder.check(bucket.text());
      try (var found = Files.newDirectoryStream(folder.directory(bucket.text()))) {
        for (var file : found) {
          var name = String.valueOf(file.getFileName());
          var key = name.startsWith(RecordFiles.UNFINISHED) ? null : key(name);
          var entry = key == null ? null : read(file);
          if (key != null && entry != null) {
            entries.put(key, entry);
          }
        }
      }
    } catch (NoSuchFileException _) {
      return Map.of();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return entries;
  }

  private static @Nullable String key(String name) {
    try {
      return FileNames.decode(name);
    } catch (IllegalArgumentException _) {
      return null; // not written by this protocol
    }
  }

  private Bucket.@Nullable Entry read(BucketName bucket, String key) throws IOException {
    try {
      folder.check(bucket.text());
    } catch (NoSuchFileException _) {
      return null;
    }
    return read(file(bucket, key));
  }

  /** Returns null when there is no file, its owner is silent, or it is not to be trusted. */
  private Bucket.@Nullable Entry read(Path file) throws IOException {
    try {
      var status = folder.status(file);
      var ends = status.stamp().changed().toInstant().plus(leaseTtl);
      if (!status.isRegular()
          || status.stamp().bytes() > RecordFiles.MAX_BYTES
          || !folder.trusts(status.user())
          || ends.isBefore(clock.instant())) {
        return null;
      }
      var value = RecordFiles.read(file);
      return new Bucket.Entry(value, revision(status, value));
    } catch (NoSuchFileException | AccessDeniedException _) {
      return null; // a file that may not be read must not hide the others
    }
  }

  /**
   * Returns the revision of a file by its number and content, since each write makes a new file.
   */
  private static long revision(FileStatus status, byte[] value) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      digest.update(String.valueOf(status.stamp().key()).getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(digest.digest(value)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JVM has it
    }
  }

  /** Runs a write when no other process of ours writes to the bucket. */
  private <T> T inTurn(BucketName bucket, String key, WriteLocks.Write<T> write) {
    try {
      var _ = folder.make(bucket.text());
      used.add(bucket);
      return locks.hold(bucket, write);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + bucket + "/" + key, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(
          "cannot write " + bucket + "/" + key, new IOException("interrupted", e));
    }
  }

  private final class OneBucket implements Bucket {
    private final BucketName name;

    OneBucket(BucketName name) {
      this.name = name;
    }

    @Override
    public Optional<Entry> get(String key) {
      try {
        return Optional.ofNullable(read(name, key));
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read " + name + "/" + key, e);
      }
    }

    @Override
    public Map<String, Entry> entries() {
      try {
        return FileBuckets.this.entries(name);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read " + name, e);
      }
    }

    @Override
    public OptionalLong create(String key, byte[] value) {
      return inTurn(
          name,
          key,
          () -> {
            if (read(name, key) != null) {
              return OptionalLong.empty();
            }
            var unfinished = unfinished(key, value);
            try {
              Files.deleteIfExists(file(name, key)); // of a silent owner
              return files.link(unfinished, file(name, key))
                  ? written(key, value)
                  : OptionalLong.empty();
            } finally {
              Files.deleteIfExists(unfinished);
            }
          });
    }

    @Override
    public OptionalLong replace(String key, byte[] value, long revision) {
      return inTurn(
          name,
          key,
          () -> {
            if (!isAt(key, revision)) {
              return OptionalLong.empty();
            }
            var unfinished = unfinished(key, value);
            try {
              Files.move(unfinished, file(name, key), StandardCopyOption.ATOMIC_MOVE);
              return written(key, value);
            } finally {
              Files.deleteIfExists(unfinished);
            }
          });
    }

    private Path unfinished(String key, byte[] value) throws IOException {
      if (closed) {
        throw new IllegalStateException("discovery is closed");
      }
      if (value.length > MAX_VALUE_BYTES) {
        throw new IllegalArgumentException(
            "the value of %s/%s has %d bytes, more than %d"
                .formatted(name, key, value.length, MAX_VALUE_BYTES));
      }
      return files.writeUnfinished(name.text(), key, value, clock.instant());
    }

    /** Records the file just written as one of this process. */
    private OptionalLong written(String key, byte[] value) throws IOException {
      long revision = revision(folder.status(file(name, key)), value);
      own.put(new OwnKey(name, key), revision);
      lookSoon.run();
      return OptionalLong.of(revision);
    }

    private boolean isAt(String key, long revision) throws IOException {
      var there = read(name, key);
      return there != null && there.revision() == revision;
    }

    @Override
    public boolean delete(String key, long revision) {
      return inTurn(
          name,
          key,
          () -> {
            if (!isAt(key, revision)) {
              return false;
            }
            own.remove(new OwnKey(name, key));
            Files.deleteIfExists(file(name, key));
            lookSoon.run();
            return true;
          });
    }

    @Override
    public Discovery.Handle watch(Consumer<Map<String, Entry>> listener) {
      var watch = new BucketWatch(name, listener);
      watches.add(watch);
      watchSoon.run();
      return () -> {
        watch.close();
        watches.remove(watch);
      };
    }
  }
}
