package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.json.Json;
import io.dynamo.natives.CudaDevices;
import io.dynamo.natives.NativeStatus;
import io.dynamo.transfer.BlockPermutation;
import io.dynamo.transfer.BlockRegion;
import io.dynamo.transfer.DeviceMemory;
import io.dynamo.transfer.DeviceMemoryExhaustedException;
import io.dynamo.transfer.DeviceSharing;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemoryExhaustedException;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient;
import io.dynamo.transfer.TransferClient.Priority;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Memory of one GPU, by NVIDIA's driver library. Safe for concurrent use; allocations and pins take
 * the driver's time.
 */
public final class NativeDeviceMemory implements DeviceMemory, DeviceSharing {
  private final NativeHostMemory host;
  private final long device;
  private final DeviceFacts facts;
  private final DeviceRequests requests;
  private final NativeDeviceClient client;
  private final Set<NativeDeviceRegion> open = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closing = new AtomicBoolean();

  /**
   * Opens a GPU.
   *
   * @param host whose regions are copied from and to; closed after this
   * @param index of the GPU, from 0
   * @param library path of the driver's library, or null for the system's
   * @throws DeviceUnavailableException when the driver or the GPU cannot be used
   */
  public NativeDeviceMemory(NativeHostMemory host, int index, @Nullable Path library) {
    this.host = host;
    var why = new @Nullable String[1];
    byte @Nullable [] path =
        library == null ? null : library.toString().getBytes(StandardCharsets.UTF_8);
    this.device = CudaDevices.open(path, index, why);
    if (device < 0) {
      throw new DeviceUnavailableException(
          why[0] == null ? NativeStatus.of(device).toString() : why[0]);
    }
    this.facts = describe(device);
    this.requests = new DeviceRequests(device, facts.name(), this::closeEnded);
    this.client = new NativeDeviceClient(this, device, requests);
    try {
      requests.start();
    } catch (Error noThread) {
      CudaDevices.close(device, 0);
      CudaDevices.forget(device);
      throw noThread;
    }
  }

  private static DeviceFacts describe(long device) {
    var json = CudaDevices.describe(device);
    if (json == null) {
      throw new OutOfMemoryError("no memory for the native library's own lists");
    }
    var facts = Json.readObject(json.getBytes(StandardCharsets.US_ASCII));
    int version = facts.count("driver_version");
    return new DeviceFacts(
        facts.text("name"),
        facts.text("uuid"),
        facts.unsigned("bytes"),
        facts.text("compute_capability"),
        "%d.%d".formatted(version / 1000, version % 1000 / 10),
        facts.text("why_no_kernels"));
  }

  @Override
  public DeviceFacts facts() {
    return facts;
  }

  @Override
  public DeviceRegion allocate(long byteSize) {
    requireAllocatable(byteSize);
    return added(
        new NativeDeviceRegion(handle(CudaDevices.allocate(device, byteSize), byteSize), byteSize));
  }

  private void requireAllocatable(long byteSize) {
    if (byteSize <= 0) {
      throw new IllegalArgumentException("a region has at least one byte, not " + byteSize);
    }
    requireOpen();
  }

  private void requireOpen() {
    if (closing.get()) {
      throw new IllegalStateException("the memory of the GPU is closed");
    }
  }

  private long handle(long result, long byteSize) {
    requireOk(NativeStatus.of(result), status -> refusal(status, byteSize));
    return result;
  }

  private void requireOk(NativeStatus status, DeviceRequests.Failures failures) {
    if (status != NativeStatus.OK) {
      throw requests.failure(status, failures);
    }
  }

  private RuntimeException refusal(NativeStatus status, long byteSize) {
    return status == NativeStatus.NO_MEMORY
        ? new DeviceMemoryExhaustedException(facts.name(), byteSize)
        : refusal(status);
  }

  /** Returns the failure of a call whose arguments were right. */
  private RuntimeException refusal(NativeStatus status) {
    return switch (status) {
      case STALE -> new IllegalStateException("the region or the memory of the GPU is closed");
      case INVALID -> new IllegalArgumentException("a region of another memory");
      case UNSUPPORTED ->
          new UnsupportedOperationException(
              "the driver of the GPU %s has no way to do it".formatted(facts.name()));
      case OK,
          BACKEND,
          IO,
          TIMEOUT,
          CANCELLED,
          RANGE,
          NO_MEMORY,
          BUSY,
          CORRUPT,
          PEER_LOST,
          DEVICE_LOST,
          AUTH ->
          new IllegalStateException("the native library failed: " + status);
    };
  }

  private <R extends NativeDeviceRegion> R added(R region) {
    open.add(region);
    if (closing.get()) { // a concurrent close may have missed this region
      region.close();
    }
    requireOpen();
    return region;
  }

  @Override
  public HostMemory.Region allocatePinned(long byteSize, PinnedUse use) {
    requireAllocatable(byteSize);
    long handle = CudaDevices.allocatePinned(device, byteSize, use == PinnedUse.WRITE_ONLY);
    var status = NativeStatus.of(handle);
    if (status == NativeStatus.NO_MEMORY) {
      throw new HostMemoryExhaustedException(
          byteSize, "the driver pins no more: allow more locked memory, or ask for less", null);
    }
    requireOk(status, this::refusal);
    return host.added(handle, byteSize, HostMemory.Residency.PINNED);
  }

  @Override
  public boolean pin(HostMemory.Region region) {
    requireOpen();
    var status = NativeStatus.of(CudaDevices.register(device, host.handle(region)));
    if (status == NativeStatus.INVALID) {
      return false;
    }
    requireOk(status, this::refusal);
    host.markPinned(region);
    return true;
  }

  @Override
  public TransferClient transfers() {
    return client;
  }

  @Override
  public Transfer permute(
      BlockRegion source,
      BlockRegion target,
      BlockPermutation permutation,
      Priority priority,
      Deadline deadline) {
    return client.permute(source, target, permutation, priority, deadline);
  }

  @Override
  public byte[] export(DeviceRegion region) {
    var name = new byte[CudaDevices.EXPORT_BYTES];
    requireOk(NativeStatus.of(CudaDevices.export(device, handle(region), name)), this::refusal);
    return name;
  }

  @Override
  public ImportedRegion importRegion(byte[] name, long byteSize, Duration lease) {
    requireAllocatable(byteSize);
    if (name.length != CudaDevices.EXPORT_BYTES) {
      throw new IllegalArgumentException(
          "the name of a GPU's memory has %d bytes, not %d"
              .formatted(CudaDevices.EXPORT_BYTES, name.length));
    }
    long end = Deadline.after(lease).nanoTime();
    long handle = CudaDevices.importMemory(device, name, byteSize, end);
    if (NativeStatus.of(handle) == NativeStatus.RANGE) {
      throw new IndexOutOfBoundsException(
          "the memory has fewer than %d bytes; ask its owner for its size".formatted(byteSize));
    }
    requireOk(NativeStatus.of(handle), this::refusal);
    return added(new NativeImportedRegion(handle, byteSize, end));
  }

  /** Returns the handle of a region of this memory, or of its host memory. */
  long handle(BlockRegion region) {
    if (region instanceof NativeDeviceRegion one) {
      if (one.owner() == this) {
        return one.handle;
      }
      throw new IllegalArgumentException("a region of another GPU");
    }
    return host.handle(region);
  }

  /** Closes regions whose lease is over. */
  private void closeEnded() {
    open.forEach(NativeDeviceRegion::closeWhenEnded);
  }

  @Override
  public void close() {
    closing.set(true);
    requests.close();
    open.forEach(NativeDeviceRegion::close);
    CudaDevices.forget(device);
  }

  private class NativeDeviceRegion implements DeviceRegion {
    private final long handle;
    private final long byteSize;
    private final AtomicBoolean regionClosed = new AtomicBoolean();

    NativeDeviceRegion(long handle, long byteSize) {
      this.handle = handle;
      this.byteSize = byteSize;
    }

    NativeDeviceMemory owner() {
      return NativeDeviceMemory.this;
    }

    @Override
    public long byteSize() {
      return byteSize;
    }

    void closeWhenEnded() {}

    @Override
    public void close() {
      if (regionClosed.compareAndSet(false, true)) {
        CudaDevices.release(handle);
        open.remove(this);
      }
    }
  }

  private final class NativeImportedRegion extends NativeDeviceRegion implements ImportedRegion {
    private final long handle;
    private volatile long leaseEndNanos;

    NativeImportedRegion(long handle, long byteSize, long leaseEndNanos) {
      super(handle, byteSize);
      this.handle = handle;
      this.leaseEndNanos = leaseEndNanos;
    }

    @Override
    public synchronized void renew(Duration lease) {
      long end = Deadline.after(lease).nanoTime();
      if (CudaDevices.renew(handle, end) != 0) {
        throw new IllegalStateException("the lease of the GPU's memory is over; import it again");
      }
      leaseEndNanos = end;
    }

    @Override
    void closeWhenEnded() {
      if (System.nanoTime() - leaseEndNanos >= 0) {
        close();
      }
    }
  }
}
