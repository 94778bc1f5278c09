package io.dynamo.discovery.file;

import io.dynamo.discovery.store.BucketName;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Orders the writes to each bucket by a lock on a file, which processes of ours respect. The files
 * are in a directory of their own: Dynamo deletes old files from directories of records. Safe for
 * concurrent use.
 */
final class WriteLocks {
  /** The directory of the lock files. */
  static final String DIRECTORY = ".locks";

  private static final System.Logger LOG = System.getLogger(WriteLocks.class.getName());
  private static final Duration PATIENCE = Duration.ofSeconds(2); // until the lock is free
  private static final long BETWEEN_TRIES_NANOS = 5_000_000;
  private static final Set<OpenOption> LOCK_FILE =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

  /** Orders the writes of this process, for which locks on files are no help. */
  private static final ReentrantLock IN_PROCESS = new ReentrantLock(true);

  /** A change to a bucket. */
  @FunctionalInterface
  interface Write<T> {
    T run() throws IOException;
  }

  private final StoreFolder folder;

  WriteLocks(StoreFolder folder) {
    this.folder = folder;
  }

  /**
   * Runs a write when no other process of ours writes to the bucket.
   *
   * @throws IOException also when others write for two seconds
   */
  <T> T hold(BucketName bucket, Write<T> write) throws IOException, InterruptedException {
    if (!IN_PROCESS.tryLock(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new IOException("other threads have written for " + PATIENCE);
    }
    try (var channel =
            FileChannel.open(
                folder.make(DIRECTORY).resolve(FileNames.encode(bucket.text())),
                LOCK_FILE,
                folder.fileAttributes());
        var _ = lock(channel)) {
      return write.run();
    } finally {
      IN_PROCESS.unlock();
    }
  }

  private static FileLock lock(FileChannel channel) throws IOException {
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        var lock = channel.tryLock();
        if (lock != null) {
          return lock;
        }
      } catch (OverlappingFileLockException e) { // another class loader of this process has it
        LOG.log(Level.DEBUG, "waits for a lock of this process", e);
      }
      if (System.nanoTime() - until >= 0) {
        throw new IOException("another process has written for " + PATIENCE);
      }
      LockSupport.parkNanos(BETWEEN_TRIES_NANOS);
    }
  }
}
