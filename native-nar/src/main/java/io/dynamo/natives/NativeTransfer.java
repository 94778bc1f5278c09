package io.dynamo.natives;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The functions of the native library, without a Java layer: callers check {@link
 * NativeLibrary#isAvailable()} first, else they get an {@link UnsatisfiedLinkError}. Safe for
 * concurrent use; none of them waits.
 *
 * <p>A region is named by a handle that carries an epoch, never by an address: after {@link
 * #release} it is {@link NativeStatus#STALE} for ever, and bytes are freed only when the last
 * operation on them has ended. Every offset and length is taken as unsigned and checked. Results
 * below zero are {@linkplain NativeStatus status codes}.
 */
public final class NativeTransfer {
  static {
    NativeLibrary.ensureLoaded();
  }

  private NativeTransfer() {}

  /**
   * Allocates zeroed bytes, aligned to at least 64.
   *
   * @return their handle, or a status
   */
  public static native long allocate(long byteSize);

  /**
   * Like {@link #allocate}, in memory that other processes of this host can map ({@link
   * RegionLoans}).
   */
  public static native long allocateShared(long byteSize);

  /**
   * Like {@link #allocate}, in pages of their own that the kernel keeps in RAM where it allows
   * that.
   *
   * @param refusal is given 0 when it does, else the errno by which it refused
   */
  public static native long allocateLocked(long byteSize, int[] refusal);

  /**
   * Ends all writes of other processes into a shared region, whose bytes stay.
   *
   * @return {@link NativeStatus#BUSY} while another process has them mapped and could still change
   *     them; {@link NativeStatus#INVALID} for a region that is not shared
   */
  public static native int freeze(long handle);

  /** Makes a handle stale. */
  public static native int release(long handle);

  /** Returns the bytes of all regions that are not freed yet. */
  public static native long heldBytes();

  /**
   * Copies from a direct buffer, whose memory must stay valid during the call.
   *
   * @param position offset in the buffer, independent of its own position
   */
  public static native int write(
      long handle, long offset, ByteBuffer from, int position, int length);

  /** Copies into a direct buffer, whose memory must be writable and stay valid during the call. */
  public static native int read(
      long handle, long offset, ByteBuffer into, int position, int length);

  public static native int writeArray(
      long handle, long offset, byte[] from, int position, int length);

  public static native int readArray(
      long handle, long offset, byte[] into, int position, int length);

  /**
   * Copies all ranges or none.
   *
   * @param triples source offset, target offset and length of each range
   */
  public static native int copy(long source, long target, long[] triples);

  /**
   * Moves blocks into another order of their dimensions, all or none.
   *
   * @param shape as {@link CudaDevices#permute} takes it
   * @param pairs source offset and target offset of each block
   */
  public static native int permute(long source, long target, long[] shape, long[] pairs);

  /** Returns the CRC-32C of a range in the lower 32 bits, or a status. */
  public static native long crc32c(long handle, long offset, long length);

  /**
   * Keeps a region's bytes in place until {@link #letGo}, even past its release, for code that
   * works on them in place.
   *
   * @return their address, or a status
   */
  public static native long hold(long handle);

  /** Ends one {@link #hold}; called once for each. */
  public static native int letGo(long handle);

  /** Describes the machine's devices as a JSON object; null when memory ran out. */
  static native @Nullable String probe();
}
