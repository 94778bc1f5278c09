package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.natives.DiskSpaces;
import io.dynamo.natives.NativeStatus;
import io.dynamo.transfer.DiskFailedException;
import io.dynamo.transfer.DiskSpace;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferBusyException;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Disk space of the native library: io_uring and direct I/O where this host has them, else threads
 * and the page cache. A daemon thread of its own ends the requests. Safe for concurrent use.
 */
public final class NativeDiskSpace implements DiskSpace {
  private static final System.Logger LOG = System.getLogger(NativeDiskSpace.class.getName());
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos(); // re-checks that often
  private static final Duration POLLER_END = Duration.ofSeconds(30);

  /** How bytes get to the disk, where a choice is left. */
  public record Options(boolean usesPageCache, boolean usesThreads) {
    /** The fastest ways that this host has. */
    public static final Options BEST = new Options(false, false);
  }

  private final NativeHostMemory memory;
  private final Path folder;
  private final long byteSize;
  private final long space;
  private final boolean hasRing;
  private final boolean isDirect;
  private final int alignment;
  private final int memoryAlignment;
  private final AtomicLong nextTicket = new AtomicLong(1);
  private final Map<Long, Transfer> running = new ConcurrentHashMap<>(); // by ticket
  private final Thread poller;

  /**
   * Allocates space.
   *
   * @param memory whose regions it is read into and written from
   * @throws DiskFailedException when the folder cannot be written to, or its disk is full
   */
  public NativeDiskSpace(NativeHostMemory memory, Path folder, long byteSize, Options options) {
    this(memory, folder, byteSize, options, NativeFaults.NONE);
  }

  /**
   * @param faults of the requests
   */
  NativeDiskSpace(
      NativeHostMemory memory, Path folder, long byteSize, Options options, NativeFaults faults) {
    if (byteSize <= 0) {
      throw new IllegalArgumentException("a space has at least one byte, not " + byteSize);
    }
    this.memory = memory;
    this.folder = folder;
    this.byteSize = byteSize;
    this.space = open(folder, byteSize, options, faults);
    if (!faults.isEmpty()) {
      LOG.log(Level.WARNING, "disk space in {0} has faults: some requests go wrong", folder);
    }
    var facts = new long[4];
    DiskSpaces.describe(space, facts);
    this.hasRing = facts[0] == 1;
    this.isDirect = facts[1] == 1;
    this.alignment = (int) facts[2];
    this.memoryAlignment = (int) facts[3];
    var waiting = Thread.ofPlatform().daemon().name("disk-completions").unstarted(this::poll);
    try {
      waiting.start();
    } catch (Error noThread) {
      DiskSpaces.close(space);
      DiskSpaces.forget(space);
      throw noThread;
    }
    this.poller = waiting;
  }

  private static long open(Path folder, long byteSize, Options options, NativeFaults faults) {
    var error = new int[1];
    long opened =
        DiskSpaces.open(
            folder.toString().getBytes(StandardCharsets.UTF_8),
            byteSize,
            options.usesPageCache,
            options.usesThreads,
            faults.toArray(),
            error);
    if (opened >= 0) {
      return opened;
    }
    var what = "no scratch space of %d bytes in %s".formatted(byteSize, folder);
    if (error[0] != 0) {
      throw new DiskFailedException(what, error[0]);
    }
    throw new IllegalStateException(what + ": " + NativeStatus.of(opened));
  }

  @Override
  public long byteSize() {
    return byteSize;
  }

  @Override
  public int alignment() {
    return alignment;
  }

  @Override
  public String way() {
    return "%s, %s"
        .formatted(
            hasRing ? "io_uring" : "threads",
            isDirect ? "past the page cache" : "by the page cache");
  }

  @Override
  public Transfer write(
      Region source, long sourceOffset, long offset, long length, Deadline deadline) {
    return submit(true, source, sourceOffset, offset, length, deadline);
  }

  @Override
  public Transfer read(
      Region target, long targetOffset, long offset, long length, Deadline deadline) {
    return submit(false, target, targetOffset, offset, length, deadline);
  }

  private Transfer submit(
      boolean write,
      Region region,
      long regionOffset,
      long offset,
      long length,
      Deadline deadline) {
    long handle = memory.handle(region);
    long ticket = nextTicket.getAndIncrement();
    var transfer = new Transfer(() -> DiskSpaces.cancel(space, ticket));
    running.put(ticket, transfer); // before its completion can come
    NativeStatus status = NativeStatus.BACKEND;
    try {
      long until = deadline.nanoTime() == 0 ? 1 : deadline.nanoTime(); // 0 stands for none
      status =
          NativeStatus.of(
              DiskSpaces.submit(space, ticket, write, handle, regionOffset, offset, length, until));
    } finally {
      if (status != NativeStatus.OK) {
        running.remove(ticket);
      }
    }
    var refusal = refusal(status, region, regionOffset, offset, length);
    if (refusal != null) {
      throw refusal;
    }
    return transfer;
  }

  private @Nullable RuntimeException refusal(
      NativeStatus status, Region region, long regionOffset, long offset, long length) {
    return switch (status) {
      case OK -> null;
      case RANGE ->
          new IndexOutOfBoundsException(
              "%d bytes at %d of a region of %d, and at %d of a space of %d, leave one of them"
                  .formatted(length, regionOffset, region.byteSize(), offset, byteSize));
      case INVALID ->
          new IllegalArgumentException(
              "%d bytes at %d are not in multiples of %d, or their memory at %d not of %d"
                  .formatted(length, offset, alignment, regionOffset, memoryAlignment));
      case BUSY -> new TransferBusyException(DiskSpaces.MAX_REQUESTS);
      case STALE -> new IllegalStateException("the region or the disk space is closed");
      case BACKEND,
          IO,
          TIMEOUT,
          CANCELLED,
          UNSUPPORTED,
          NO_MEMORY,
          CORRUPT,
          PEER_LOST,
          DEVICE_LOST,
          AUTH ->
          new IllegalStateException("the native library failed: " + status);
    };
  }

  private void poll() {
    var ended = new long[DiskSpaces.MAX_REQUESTS * DiskSpaces.COMPLETION_LONGS];
    try {
      while (true) {
        long count = DiskSpaces.await(space, LOOK_NANOS, ended);
        if (count < 0) {
          break;
        }
        for (int i = 0; i < count * DiskSpaces.COMPLETION_LONGS; i += DiskSpaces.COMPLETION_LONGS) {
          completed(ended[i], NativeStatus.of(ended[i + 1]), ended[i + 2], (int) ended[i + 3]);
        }
      }
    } catch (RuntimeException | Error failure) {
      LOG.log(Level.ERROR, "the thread of disk completions failed", failure);
      DiskSpaces.close(space);
    } finally {
      running.keySet().forEach(ticket -> completed(ticket, NativeStatus.CANCELLED, 0, 0));
    }
  }

  private void completed(long ticket, NativeStatus status, long bytes, int errno) {
    var transfer = running.remove(ticket);
    if (transfer == null) {
      return;
    }
    switch (status) {
      case OK -> transfer.complete(bytes);
      case CANCELLED -> transfer.fail(new CancelledException("the transfer was cancelled"));
      case TIMEOUT ->
          transfer.fail(new DeadlineExceededException("the deadline of the transfer passed"));
      case IO ->
          transfer.fail(
              new DiskFailedException(
                  "the disk of %s failed after %d bytes".formatted(folder, bytes), errno));
      case INVALID,
          RANGE,
          STALE,
          BACKEND,
          UNSUPPORTED,
          NO_MEMORY,
          BUSY,
          CORRUPT,
          PEER_LOST,
          DEVICE_LOST,
          AUTH ->
          transfer.fail(
              new TransferFailedException(
                  Reason.BACKEND,
                  "the native library failed after %d bytes: %s".formatted(bytes, status),
                  null));
    }
  }

  @Override
  public void close() {
    DiskSpaces.close(space);
    boolean interrupted = false;
    try {
      if (!poller.equals(Thread.currentThread()) && !poller.join(POLLER_END)) {
        LOG.log(Level.WARNING, "the thread of disk completions has not ended in time");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    DiskSpaces.forget(space);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
