package io.dynamo.natives;

import java.nio.ByteBuffer;

/**
 * The functions of a native thread that copies batches between regions, without a Java layer. It is
 * named by a handle that is stale after {@link #close}; batches and their completions cross in two
 * rings ({@link TransferRings}). Safe for concurrent use; only {@link #await} and {@link #close}
 * wait. Results below zero are {@linkplain NativeStatus status codes}.
 */
public final class TransferThread {
  static {
    NativeLibrary.ensureLoaded();
  }

  private TransferThread() {}

  /**
   * Starts a thread over the memory of two rings, direct and aligned to 64 bytes. The memory stays
   * in place until the thread has ended.
   *
   * @param faults number of a batch (from 1), kind (1 late, 2 lost, 3 short, 4 damaged, 5 failed)
   *     and value (nanoseconds of 1; of 5 a status below zero, an errno above) for each of the
   *     thread's faults, which are for tests; else empty
   * @return its handle, or a status
   */
  public static native long open(ByteBuffer submissions, ByteBuffer completions, long[] faults);

  /** Wakes the thread; called when its ring shows that it sleeps. */
  public static native int kick(long handle);

  /**
   * Waits for completions.
   *
   * @return how many there are; {@link NativeStatus#STALE} when it is closed and none is left,
   *     {@link NativeStatus#CORRUPT} when the ring of submissions was damaged
   */
  public static native long await(long handle, long maxNanos);

  /** Gives a batch up; its completion follows. Of no effect on one that has ended. */
  public static native int cancel(long handle, long ticket);

  /**
   * Reads the thread's counts.
   *
   * @param into four longs: batches completed, batches that failed, bytes moved, nanoseconds busy
   */
  public static native int counts(long handle, long[] into);

  /**
   * Completes the submitted batches, cancels those left after {@code maxNanos}, and ends the
   * thread. Idempotent.
   */
  public static native int close(long handle, long maxNanos);
}
