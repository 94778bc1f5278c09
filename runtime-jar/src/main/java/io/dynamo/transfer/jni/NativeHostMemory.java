package io.dynamo.transfer.jni;

import io.dynamo.natives.NativeLibrary;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.transfer.BlockPermutation;
import io.dynamo.transfer.BlockRegion;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemoryExhaustedException;
import io.dynamo.transfer.TransferClient;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Host memory of the native library: a batch is one call, and is checked by the library. Safe for
 * concurrent use.
 */
public final class NativeHostMemory implements HostMemory {
  private static final System.Logger LOG = System.getLogger(NativeHostMemory.class.getName());

  private final NativeFaults faults;
  private final AtomicBoolean sharingRefused = new AtomicBoolean();
  private final AtomicBoolean lockingRefused = new AtomicBoolean();
  private final Set<NativeRegion> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed; // written under this
  private @Nullable TransferClient transfers; // guarded by this

  /**
   * @throws IllegalStateException if the native library is absent
   */
  public NativeHostMemory() {
    this(NativeFaults.NONE);
  }

  /**
   * @param faults of the batches that {@link #transfers()} copies
   */
  NativeHostMemory(NativeFaults faults) {
    this.faults = faults;
    if (!NativeLibrary.isAvailable()) {
      throw new IllegalStateException("no native library: " + NativeLibrary.cause());
    }
  }

  @Override
  public String kind() {
    return "native";
  }

  @Override
  public Region allocate(long byteSize) {
    requireAllocatable(byteSize);
    return added(NativeTransfer.allocate(byteSize), byteSize);
  }

  /** {@inheritDoc} Where the kernel refuses such memory, the log says so once. */
  @Override
  public Region allocateShared(long byteSize) {
    requireAllocatable(byteSize);
    var handle = NativeTransfer.allocateShared(byteSize);
    var status = NativeStatus.of(handle);
    if (status == NativeStatus.OK || status == NativeStatus.NO_MEMORY) {
      return added(handle, byteSize);
    }
    if (!sharingRefused.getAndSet(true)) {
      LOG.log(
          Level.WARNING,
          "the kernel gives no memory that processes can share ({0}): KV blocks go to other"
              + " processes of this host by TCP; allow memfd_create and file seals",
          status);
    }
    return allocate(byteSize);
  }

  /** {@inheritDoc} Where the kernel refuses to lock them, the log says so once. */
  @Override
  public Region allocatePinned(long byteSize) {
    requireAllocatable(byteSize);
    var refusal = new int[1];
    long handle = NativeTransfer.allocateLocked(byteSize, refusal);
    boolean isLocked = refusal[0] == 0;
    var region = added(handle, byteSize, isLocked ? Residency.PINNED_SOFT : Residency.PAGEABLE);
    if (!isLocked && !lockingRefused.getAndSet(true)) {
      LOG.log(
          Level.WARNING,
          "the kernel does not lock {0} bytes in RAM (mlock: errno {1}): they work, and may be"
              + " swapped out; raise the limit of ulimit -l (LimitMEMLOCK of systemd)",
          Long.toString(byteSize),
          refusal[0]);
    }
    return region;
  }

  private void requireAllocatable(long byteSize) {
    if (byteSize <= 0) {
      throw new IllegalArgumentException("a region has at least one byte, not " + byteSize);
    }
    requireOpen();
  }

  /**
   * Makes a region of a handle that is new.
   *
   * @param handle or the status that came instead
   */
  Region added(long handle, long byteSize) {
    return added(handle, byteSize, Residency.PAGEABLE);
  }

  /**
   * Makes a region of a handle that is new.
   *
   * @param handle or the status that came instead
   */
  Region added(long handle, long byteSize, Residency residency) {
    if (NativeStatus.of(handle) == NativeStatus.NO_MEMORY) {
      throw new HostMemoryExhaustedException(byteSize, "the machine has not so many", null);
    }
    requireOk(handle);
    var region = new NativeRegion(handle, byteSize, residency);
    open.add(region);
    if (closed) { // a concurrent close may have missed this region
      region.close();
    }
    requireOpen();
    return region;
  }

  /**
   * Returns a view of a handle that another owner releases: closing it does nothing.
   *
   * @param handle of a region that may be gone; then operations on it throw
   */
  Region borrowed(long handle, long byteSize) {
    return new NativeRegion(handle, byteSize, Residency.PAGEABLE);
  }

  @Override
  public void copy(Region source, Region target, CopyBatch batch) {
    var from = mine(source);
    var to = mine(target);
    var status = NativeStatus.of(NativeTransfer.copy(from.handle, to.handle, batch.toArray()));
    if (status == NativeStatus.RANGE) {
      batch.requireWithin(from.byteSize(), to.byteSize()); // throws, and names the range
    }
    if (status == NativeStatus.INVALID) {
      throw new IllegalArgumentException("ranges of the batch overlap");
    }
    requireOk(status);
  }

  @Override
  public void permute(Region source, Region target, BlockPermutation permutation) {
    var status =
        NativeStatus.of(
            NativeTransfer.permute(
                mine(source).handle,
                mine(target).handle,
                permutation.shape(),
                permutation.pairs()));
    if (status == NativeStatus.INVALID) {
      throw new IllegalArgumentException(
          "blocks of the permutation overlap, a dimension is empty, or the blocks are interleaved"
              + " and have more than a million runs");
    }
    requireOk(status);
  }

  /** {@inheritDoc} The native thread starts with the first call. */
  @Override
  public synchronized TransferClient transfers() {
    requireOpen();
    var known = transfers;
    if (known == null) {
      known = new NativeTransferClient(this, faults);
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
    open.forEach(NativeRegion::close);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("host memory is closed");
    }
  }

  boolean owns(Region region) {
    return region instanceof NativeRegion one && one.owner() == this;
  }

  /** Returns the handle of one of this memory's regions. */
  long handle(BlockRegion region) {
    return mine(region).handle;
  }

  /** Records that the driver of a GPU keeps a region in its place from now on. */
  void markPinned(Region region) {
    mine(region).residency = Residency.PINNED;
  }

  private NativeRegion mine(BlockRegion region) {
    if (region instanceof NativeRegion one && one.owner() == this) {
      return one;
    }
    throw new IllegalArgumentException("a region of another memory");
  }

  private static void requireOk(long result) {
    requireOk(NativeStatus.of(result));
  }

  private static void requireOk(NativeStatus status) {
    switch (status) {
      case OK -> {}
      case STALE -> throw new IllegalStateException("the region is closed");
      case BUSY -> throw new IllegalStateException("2^31 operations run on the region");
      case INVALID -> throw new IllegalArgumentException("refused by the native library");
      case RANGE -> throw new IndexOutOfBoundsException("a range leaves its region");
      case NO_MEMORY -> throw new OutOfMemoryError("no memory for the native library's own lists");
      case BACKEND, IO, CANCELLED, TIMEOUT, UNSUPPORTED, CORRUPT, PEER_LOST, DEVICE_LOST, AUTH ->
          throw new IllegalStateException("the native library failed: " + status);
    }
  }

  private final class NativeRegion implements Region {
    private final long handle;
    private final long byteSize;
    private final AtomicBoolean regionClosed = new AtomicBoolean();
    private volatile Residency residency;

    NativeRegion(long handle, long byteSize, Residency residency) {
      this.handle = handle;
      this.byteSize = byteSize;
      this.residency = residency;
    }

    NativeHostMemory owner() {
      return NativeHostMemory.this;
    }

    @Override
    public long byteSize() {
      return byteSize;
    }

    @Override
    public void write(long offset, ByteBuffer from) {
      var length = from.remaining();
      if (from.isDirect()) {
        requireAlive(from);
        requireWithin(
            offset, length, NativeTransfer.write(handle, offset, from, from.position(), length));
      } else if (from.hasArray()) {
        var start = from.arrayOffset() + from.position();
        requireWithin(
            offset, length, NativeTransfer.writeArray(handle, offset, from.array(), start, length));
      } else {
        var bytes = new byte[length]; // a read-only buffer does not show its array
        from.duplicate().get(bytes);
        requireWithin(offset, length, NativeTransfer.writeArray(handle, offset, bytes, 0, length));
      }
      from.position(from.limit());
    }

    @Override
    public void read(long offset, ByteBuffer into) {
      if (into.isReadOnly()) {
        throw new ReadOnlyBufferException();
      }
      var length = into.remaining();
      if (into.isDirect()) {
        requireAlive(into);
        requireWithin(
            offset, length, NativeTransfer.read(handle, offset, into, into.position(), length));
      } else {
        var start = into.arrayOffset() + into.position();
        requireWithin(
            offset, length, NativeTransfer.readArray(handle, offset, into.array(), start, length));
      }
      into.position(into.limit());
    }

    @Override
    public Residency residency() {
      return residency;
    }

    @Override
    public int crc32c(long offset, long length) {
      var crc = NativeTransfer.crc32c(handle, offset, length);
      requireWithin(offset, length, crc);
      return (int) crc;
    }

    @Override
    @SuppressWarnings("restricted") // the bytes are held until the segment's end
    public MemorySegment view(Arena until) {
      var address = NativeTransfer.hold(handle);
      requireOk(address);
      try {
        return MemorySegment.ofAddress(address).reinterpret(byteSize, until, _ -> letGo());
      } catch (RuntimeException ended) {
        letGo();
        throw ended;
      }
    }

    private void letGo() {
      requireOk(NativeTransfer.letGo(handle));
    }

    @Override
    public void close() {
      if (regionClosed.compareAndSet(false, true)) {
        NativeTransfer.release(handle);
        open.remove(this);
      }
    }

    private void requireWithin(long offset, long length, long result) {
      if (NativeStatus.of(result) == NativeStatus.RANGE) {
        throw new IndexOutOfBoundsException(
            "offset %d, length %d is not within %d bytes".formatted(offset, length, byteSize));
      }
      requireOk(result);
    }

    /** A buffer over a closed arena still has an address; Java's own access to it throws. */
    private static void requireAlive(ByteBuffer buffer) {
      if (buffer.hasRemaining()) {
        var _ = buffer.get(buffer.position());
      }
    }
  }
}
