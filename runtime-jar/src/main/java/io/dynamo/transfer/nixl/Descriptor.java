package io.dynamo.transfer.nixl;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.nixl.RdmaMetadata.SerializedDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory of this process that operations offer, fill or send. It keeps the memory in
 * place for as long as an operation may touch it, also when it is dropped meanwhile.
 *
 * <p>An operation registers the memory for as long as it runs. {@link #register} does so beforehand
 * and for all operations of a connector, until {@link #close}; descriptors of ranges within it then
 * cost no registration of their own. Safe for concurrent use.
 */
public final class Descriptor implements AutoCloseable {
  private final long address;
  private final long byteSize;
  private final Device device;
  private final boolean isReadOnly;
  private final @Nullable Object owner;
  private final @Nullable MemorySegment bytes;

  private RegistrationCache.@Nullable Use registered; // guarded by this

  private Descriptor(
      long address,
      long byteSize,
      Device device,
      boolean isReadOnly,
      @Nullable Object owner,
      @Nullable MemorySegment bytes) {
    if (address == 0) {
      throw new IllegalArgumentException("memory at address 0");
    }
    if (byteSize <= 0 || Long.compareUnsigned(address + byteSize, address) < 0) {
      throw new IllegalArgumentException(
          "%d bytes at 0x%x are no range of memory".formatted(byteSize, address));
    }
    this.address = address;
    this.byteSize = byteSize;
    this.device = device;
    this.isReadOnly = isReadOnly;
    this.owner = owner;
    this.bytes = bytes;
  }

  /**
   * Describes the remaining bytes of a direct buffer.
   *
   * @throws IllegalArgumentException for a buffer on the heap, which the garbage collector moves:
   *     use {@link #copyOf}
   */
  public static Descriptor of(ByteBuffer buffer) {
    if (!buffer.isDirect()) {
      throw onHeap();
    }
    return of(MemorySegment.ofBuffer(buffer));
  }

  /**
   * Describes memory outside the heap. A segment of an arena that is closed by its owner must not
   * be closed while operations on it run; segments of regions and of automatic arenas keep
   * themselves.
   *
   * @throws IllegalArgumentException for memory on the heap, or of an arena of one thread
   */
  public static Descriptor of(MemorySegment segment) {
    if (!segment.isNative()) {
      throw onHeap();
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the memory is freed already");
    }
    if (!segment.isAccessibleBy(Thread.ofVirtual().unstarted(() -> {}))) {
      throw new IllegalArgumentException(
          "memory of a confined arena belongs to one thread; use a shared or an automatic one");
    }
    return new Descriptor(
        segment.address(), segment.byteSize(), Device.HOST, segment.isReadOnly(), segment, segment);
  }

  /** Describes a region, whose bytes stay in place also when it is closed meanwhile. */
  public static Descriptor of(Region region) {
    return of(region.view(Arena.ofAuto()));
  }

  /** Describes a copy of an array, since an array itself is moved by the garbage collector. */
  public static Descriptor copyOf(byte[] array) {
    if (array.length == 0) {
      throw new IllegalArgumentException("an array without bytes");
    }
    var copy = Arena.ofAuto().allocate(array.length, Long.BYTES);
    MemorySegment.copy(array, 0, copy, ValueLayout.JAVA_BYTE, 0, array.length);
    return of(copy);
  }

  /**
   * Describes foreign memory, that of a device for example.
   *
   * @param address which is trusted: no check finds out what is there
   * @param owner kept reachable while operations may touch the memory; null for none
   */
  public static Descriptor of(long address, long byteSize, Device device, @Nullable Object owner) {
    return new Descriptor(address, byteSize, device, false, owner, null);
  }

  private static IllegalArgumentException onHeap() {
    return new IllegalArgumentException(
        "memory on the heap is moved by the garbage collector; use a direct buffer, a region or"
            + " copyOf");
  }

  public long address() {
    return address;
  }

  public long byteSize() {
    return byteSize;
  }

  public Device device() {
    return device;
  }

  boolean isReadOnly() {
    return isReadOnly;
  }

  /** Returns the object that keeps the memory in place; null for none. */
  @Nullable Object owner() {
    return owner;
  }

  /**
   * Returns the bytes.
   *
   * @throws IllegalStateException when it was made from an address
   */
  public MemorySegment bytes() {
    if (bytes == null) {
      throw new IllegalStateException("memory of an address cannot be read by Java");
    }
    return bytes;
  }

  /** Returns how the descriptor is written in {@link RdmaMetadata}. */
  public SerializedDescriptor serialized() {
    return new SerializedDescriptor(device.toString(), address, byteSize);
  }

  /**
   * Registers the memory with a connector, until {@link #close}. Of no effect when it is.
   *
   * @throws IllegalStateException when it is registered with another one
   * @throws NixlException when too much is registered
   */
  public synchronized void register(Connector connector) {
    requireMine(connector);
    if (registered == null) {
      registered = connector.connection().registrations().acquire(this);
    }
  }

  /**
   * @throws IllegalStateException when it is registered with another connector
   */
  synchronized void requireMine(Connector connector) {
    if (registered != null && registered.cache() != connector.connection().registrations()) {
      throw new IllegalStateException(
          "the descriptor is registered with another connector than " + connector.name());
    }
  }

  /**
   * Returns the number of the registration, when the agent has it.
   *
   * @throws IllegalStateException when the descriptor is not registered
   */
  synchronized CompletionStage<Long> registration() {
    if (registered == null) {
      throw new IllegalStateException("the descriptor is not registered");
    }
    return registered.registration();
  }

  /** Returns whether {@link #register} holds. */
  public synchronized boolean isRegistered() {
    return registered != null;
  }

  /** Ends {@link #register}; running operations keep what they use. Idempotent. */
  @Override
  public synchronized void close() {
    if (registered != null) {
      registered.release();
      registered = null;
    }
  }

  @Override
  public String toString() {
    return "%d bytes of %s".formatted(byteSize, device);
  }
}
