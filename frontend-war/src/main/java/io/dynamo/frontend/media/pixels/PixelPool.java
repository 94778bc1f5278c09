package io.dynamo.frontend.media.pixels;

import io.dynamo.transfer.nixl.Connector;
import io.dynamo.transfer.nixl.Descriptor;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Memory outside the heap for decoded images, registered with NIXL once and as a whole: what
 * workers learn of this process never changes, and memory that a late worker reaches for is always
 * there. Slots that were given back are wiped, and the one that was used longest ago is used next.
 * Safe for concurrent use; only {@link #close} waits.
 */
public final class PixelPool implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(PixelPool.class.getName());
  private static final long ALIGNMENT = 64;

  /**
   * The memory, once workers can read it.
   *
   * @param agent by which workers reach this process
   */
  private record Opened(MemorySegment memory, Descriptor descriptor, String agent) {}

  /** A part of the pool, for one image. */
  public final class Slot implements AutoCloseable {
    private final Opened opened;
    private final long from;
    private final long byteSize;
    private boolean isFree; // guarded by the pool

    private Slot(Opened opened, long from, long byteSize) {
      this.opened = opened;
      this.from = from;
      this.byteSize = byteSize;
    }

    MemorySegment memory() {
      return opened.memory.asSlice(from, byteSize);
    }

    long address() {
      return opened.memory.address() + from;
    }

    long byteSize() {
      return byteSize;
    }

    /** The text by which workers reach this process; secret to others. */
    String agent() {
      return opened.agent;
    }

    /** Wipes the memory and gives it back. Idempotent. */
    @Override
    public void close() {
      synchronized (PixelPool.this) {
        if (isFree) {
          return;
        }
        isFree = true;
      }
      memory().fill((byte) 0); // before anybody else has it
      give(from, aligned(byteSize));
    }
  }

  private final Connector connector;
  private final long byteSize;
  private volatile @Nullable Opened opened;
  private final TreeMap<Long, Long> free = new TreeMap<>(); // sizes by offset; guarded by this
  private long next; // where the search for room begins; guarded by this
  private long held; // guarded by this
  private boolean isClosed; // guarded by this

  private PixelPool(Connector connector, long byteSize) {
    this.connector = connector;
    this.byteSize = byteSize / ALIGNMENT * ALIGNMENT;
    free.put(0L, this.byteSize);
  }

  /**
   * Makes a pool that opens in the background. It has no room until then, and none if NIXL is
   * absent, which is logged.
   *
   * @param connector closed with the pool
   */
  public static PixelPool opening(Connector connector, long byteSize, Executor threads) {
    var pool = new PixelPool(connector, byteSize);
    threads.execute(pool::open);
    return pool;
  }

  private void open() {
    try {
      var memory = Arena.ofAuto().allocate(byteSize, ALIGNMENT);
      var descriptor = Descriptor.of(memory);
      var _ =
          connector
              .share(descriptor)
              .whenComplete(
                  (agent, failure) -> {
                    if (failure == null) {
                      opened(new Opened(memory, descriptor, agent));
                    } else {
                      refused(failure);
                    }
                  });
    } catch (RuntimeException | OutOfMemoryError e) {
      refused(e);
    }
  }

  private synchronized void opened(Opened memory) {
    opened = isClosed ? null : memory;
  }

  private void refused(Throwable failure) {
    synchronized (this) {
      if (isClosed) {
        return; // nobody misses it
      }
    }
    LOG.log(
        Level.WARNING,
        "images are not decoded, since dynamo.frontend.media.nixl-bytes of memory cannot be shared"
            + " over NIXL: {0}",
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause().getMessage()
            : failure.getMessage());
  }

  /** Returns memory for an image; null when there is no room, or workers cannot read it yet. */
  public @Nullable Slot take(long bytes) {
    var ready = opened;
    return ready == null || bytes < 1 ? null : place(ready, bytes);
  }

  private synchronized @Nullable Slot place(Opened ready, long bytes) {
    long size = aligned(bytes);
    long from = room(next, size);
    if (from < 0) {
      from = room(0, size);
    }
    if (from < 0) {
      return null;
    }
    var range = Objects.requireNonNull(free.floorEntry(from));
    long end = range.getKey() + range.getValue();
    free.remove(range.getKey());
    if (range.getKey() < from) {
      free.put(range.getKey(), from - range.getKey());
    }
    if (from + size < end) {
      free.put(from + size, end - from - size);
    }
    next = from + size;
    held += size;
    return new Slot(ready, from, bytes);
  }

  /** The first free offset that is not before another one and has room; -1 for none. */
  private long room(long after, long size) {
    var around = free.floorEntry(after);
    if (around != null && around.getKey() + around.getValue() - after >= size) {
      return after;
    }
    for (var range : free.tailMap(after).entrySet()) {
      if (range.getValue() >= size) {
        return range.getKey();
      }
    }
    return -1;
  }

  private synchronized void give(long offset, long size) {
    held -= size;
    long from = offset;
    long end = offset + size;
    var before = free.lowerEntry(from);
    if (before != null && before.getKey() + before.getValue() == from) {
      from = before.getKey();
    }
    var after = free.remove(end);
    if (after != null) {
      end += after;
    }
    free.put(from, end - from);
  }

  private static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /** Returns whether workers can read images, and one of that size may find room. */
  boolean mayHold(long bytes) {
    return opened != null && heldBytes() + bytes <= byteSize;
  }

  /** Returns the bytes of images that are kept now. */
  synchronized long heldBytes() {
    return held;
  }

  /** Ends NIXL's access to the memory; new images find no room. */
  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
      opened = null;
    }
    connector.close();
  }
}
