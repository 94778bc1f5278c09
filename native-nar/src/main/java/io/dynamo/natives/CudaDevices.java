package io.dynamo.natives;

import org.jspecify.annotations.Nullable;

/**
 * The functions of GPUs, without a Java layer. A device is opened through NVIDIA's driver library,
 * which is looked for at run time; it copies between its memory and the regions of {@link
 * NativeTransfer} on a thread of its own. Devices and their regions are named by handles, never by
 * addresses. Safe for concurrent use; {@link #await} and {@link #close} wait, {@link #open} and the
 * allocations take the driver's time. Results below zero are {@linkplain NativeStatus status
 * codes}.
 */
public final class CudaDevices {
  /** The most requests that may run, or have ended and wait to be taken. */
  public static final int MAX_REQUESTS = 4096;

  /** The longs of a completion: ticket, status, bytes moved. */
  public static final int COMPLETION_LONGS = 3;

  /** The bytes of the name under which processes import memory of a device. */
  public static final int EXPORT_BYTES = 64;

  /** The longs that describe how blocks are permuted; see {@link #permute}. */
  public static final int SHAPE_LONGS = 13;

  static {
    NativeLibrary.ensureLoaded();
  }

  private CudaDevices() {}

  /**
   * Opens a device and starts its thread.
   *
   * @param library name or path of the driver's library; null for the system's
   * @param index of the device, from 0
   * @param why receives the reason of a failure in its first element
   * @return its handle, or a status
   */
  public static native long open(byte @Nullable [] library, int index, @Nullable String[] why);

  /** Describes a device as a JSON object; null for a handle that is stale. */
  public static native @Nullable String describe(long device);

  /** Returns the last failure of a device in words; empty when there was none. */
  public static native @Nullable String lastFailure(long device);

  /**
   * Allocates zeroed memory of a device.
   *
   * @return the handle of a region, or a status
   */
  public static native long allocate(long device, long byteSize);

  /**
   * Allocates zeroed memory of the host that the device reaches, as a region of {@link
   * NativeTransfer}.
   *
   * @param combinesWrites for bytes that the processor writes and never reads
   */
  public static native long allocatePinned(long device, long byteSize, boolean combinesWrites);

  /**
   * Makes a region of host memory reachable for a device, until the region is released.
   *
   * @return {@link NativeStatus#INVALID} when it is reachable already
   */
  public static native int register(long device, long region);

  /** Makes the handle of a region of a device stale. */
  public static native int release(long region);

  /** Returns the bytes of all devices' regions that are not freed yet. */
  public static native long heldBytes();

  /**
   * Names memory of a device for other processes of the host.
   *
   * @param into receives {@link #EXPORT_BYTES} bytes
   */
  public static native int export(long device, long region, byte[] into);

  /**
   * Maps memory that another process has named.
   *
   * @param leaseEndNanos in terms of {@link System#nanoTime()}: no copy begins after it
   * @return the handle of a region; {@link NativeStatus#RANGE} when the memory is smaller
   */
  public static native long importMemory(
      long device, byte[] name, long byteSize, long leaseEndNanos);

  /** Moves the end of an import's lease; {@link NativeStatus#STALE} when it is over. */
  public static native int renew(long region, long leaseEndNanos);

  /**
   * Begins to copy ranges, of which at least one side is on the device.
   *
   * @param onboard whether it goes before those that are not
   * @param deadlineNanos in terms of {@link System#nanoTime()}; 0 for none
   * @param triples source offset, target offset and length of each range
   */
  public static native int submit(
      long device,
      long ticket,
      long source,
      long target,
      boolean onboard,
      long deadlineNanos,
      long[] triples);

  /**
   * Begins to move blocks into another order of their dimensions; otherwise like {@link #submit}.
   *
   * @param shape bytes of a run; then of four dimensions the sizes, the strides in the source, the
   *     strides in the target
   * @param pairs source offset and target offset of each block
   * @return {@link NativeStatus#UNSUPPORTED} when the device does not reach both regions
   */
  public static native int permute(
      long device,
      long ticket,
      long source,
      long target,
      boolean onboard,
      long deadlineNanos,
      long[] shape,
      long[] pairs);

  /**
   * Waits for completions.
   *
   * @param into room for {@link #MAX_REQUESTS} completions
   * @return how many there are; {@link NativeStatus#STALE} when it is closed and none is left
   */
  public static native int await(long device, long maxNanos, long[] into);

  /** Gives a request up; its completion follows when the device has let go of its regions. */
  public static native void cancel(long device, long ticket);

  /**
   * Reads a device's counts.
   *
   * @param into six longs: requests completed, requests that failed, bytes moved; then parts that
   *     went by single calls, by batches and by kernels
   */
  public static native int counts(long device, long[] into);

  /**
   * Completes the submitted requests, cancels those left after {@code maxNanos}, and ends the
   * thread. Idempotent.
   */
  public static native void close(long device, long maxNanos);

  /** Makes the handle of a closed device stale, and lets go of the device. Idempotent. */
  public static native void forget(long device);
}
