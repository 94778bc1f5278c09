package io.dynamo.transfer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Host memory without native code of ours: memory segments of shared arenas. Safe for concurrent
 * use. Limited by the JVM's limit on direct memory ({@code -XX:MaxDirectMemorySize}).
 */
public final class JavaHostMemory implements HostMemory {
  private static final long ALIGNMENT = 64;
  private static final long CRC_PIECE = 1 << 30; // a buffer holds at most 2^31 - 1 bytes

  private final Set<JavaRegion> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed; // written under this
  private @Nullable TransferClient transfers; // guarded by this

  @Override
  public String kind() {
    return "java";
  }

  @Override
  public Region allocate(long byteSize) {
    if (byteSize <= 0) {
      throw new IllegalArgumentException("a region has at least one byte, not " + byteSize);
    }
    requireOpen();
    var region = new JavaRegion(byteSize);
    open.add(region);
    if (closed) { // a concurrent close may have missed this region
      region.close();
    }
    requireOpen();
    return region;
  }

  /** {@inheritDoc} Plain Java has none, so the region is like any other. */
  @Override
  public Region allocateShared(long byteSize) {
    return allocate(byteSize);
  }

  /** {@inheritDoc} Plain Java cannot, so the region is like any other. */
  @Override
  public Region allocatePinned(long byteSize) {
    return allocate(byteSize);
  }

  @Override
  public void copy(Region source, Region target, CopyBatch batch) {
    var from = mine(source);
    var to = mine(target);
    from.enter();
    try {
      to.enter();
      try {
        batch.requireWithin(from.byteSize(), to.byteSize());
        if (batch.isAmbiguous(from == to)) {
          throw new IllegalArgumentException("ranges of the batch overlap");
        }
        for (var i = 0; i < batch.count(); i++) {
          MemorySegment.copy(
              from.bytes, batch.sourceOffset(i), to.bytes, batch.targetOffset(i), batch.length(i));
        }
      } finally {
        to.leave();
      }
    } finally {
      from.leave();
    }
  }

  /** {@inheritDoc} Its thread starts with the first call. */
  @Override
  public synchronized TransferClient transfers() {
    requireOpen();
    var known = transfers;
    if (known == null) {
      known = new JavaTransferClient(this);
      transfers = known;
    }
    return known;
  }

  @Override
  public void close() {
    TransferClient ending;
    synchronized (this) {
      closed = true;
      ending = transfers;
    }
    if (ending != null) {
      ending.close();
    }
    open.forEach(JavaRegion::close);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("host memory is closed");
    }
  }

  private JavaRegion mine(Region region) {
    if (region instanceof JavaRegion one && one.owner() == this) {
      return one;
    }
    throw new IllegalArgumentException("a region of another memory");
  }

  private final class JavaRegion implements Region {
    private final Arena arena = Arena.ofShared();
    private final RegionUse use = new RegionUse();
    private final MemorySegment bytes;

    JavaRegion(long byteSize) {
      try {
        bytes = arena.allocate(byteSize, ALIGNMENT);
      } catch (OutOfMemoryError | IllegalArgumentException e) { // the latter: the size overflows
        arena.close();
        throw new HostMemoryExhaustedException(
            byteSize, "raise -XX:MaxDirectMemorySize or allocate less", e);
      }
    }

    JavaHostMemory owner() {
      return JavaHostMemory.this;
    }

    @Override
    public long byteSize() {
      return bytes.byteSize();
    }

    @Override
    public void write(long offset, ByteBuffer from) {
      enter();
      try {
        var length = within(offset, from.remaining());
        MemorySegment.copy(MemorySegment.ofBuffer(from), 0, bytes, offset, length);
        from.position(from.limit());
      } finally {
        leave();
      }
    }

    @Override
    public void read(long offset, ByteBuffer into) {
      if (into.isReadOnly()) {
        throw new ReadOnlyBufferException();
      }
      enter();
      try {
        var length = within(offset, into.remaining());
        MemorySegment.copy(bytes, offset, MemorySegment.ofBuffer(into), 0, length);
        into.position(into.limit());
      } finally {
        leave();
      }
    }

    @Override
    public Residency residency() {
      return Residency.PAGEABLE;
    }

    @Override
    public int crc32c(long offset, long length) {
      enter();
      try {
        var end = offset + within(offset, length);
        var crc = new CRC32C();
        for (var at = offset; at < end; at += CRC_PIECE) {
          var piece = Math.min(CRC_PIECE, end - at);
          crc.update(bytes.asSlice(at, piece).asByteBuffer());
        }
        return (int) crc.getValue();
      } finally {
        leave();
      }
    }

    @Override
    @SuppressWarnings("restricted") // the bytes live as long as the operation entered here
    public MemorySegment view(Arena until) {
      enter();
      try {
        return bytes.reinterpret(until, _ -> leave());
      } catch (RuntimeException ended) {
        leave();
        throw ended;
      }
    }

    @Override
    public void close() {
      if (use.close()) {
        free();
      }
    }

    void enter() {
      if (!use.enter()) {
        throw new IllegalStateException("the region is closed");
      }
    }

    void leave() {
      if (use.leave()) {
        free();
      }
    }

    private void free() {
      arena.close();
      open.remove(this);
    }

    /** Returns {@code length} when the range is within the region. */
    private long within(long offset, long length) {
      if ((offset | length) < 0 || length > byteSize() - offset) {
        throw new IndexOutOfBoundsException(
            "offset %d, length %d is not within %d bytes".formatted(offset, length, byteSize()));
      }
      return length;
    }
  }
}
