package io.dynamo.natives;

/**
 * The functions of scratch space on a disk, without a Java layer: files without a name, read into
 * regions and written from them in the background. A space is named by a handle. Safe for
 * concurrent use; only {@link #await} and {@link #close} wait. Results below zero are {@linkplain
 * NativeStatus status codes}.
 */
public final class DiskSpaces {
  /** The most requests that may run, or have ended and wait to be taken. */
  public static final int MAX_REQUESTS = 4096;

  /** The longs of a completion: ticket, status, bytes moved, errno of {@link NativeStatus#IO}. */
  public static final int COMPLETION_LONGS = 4;

  static {
    NativeLibrary.ensureLoaded();
  }

  private DiskSpaces() {}

  /**
   * Makes a space whose blocks are allocated.
   *
   * @param folder path, as the file system has it
   * @param cached whether it uses the page cache; else it does where there is no direct I/O
   * @param threads whether threads do the work; else they do where io_uring is forbidden
   * @param faults as {@link TransferThread#open} takes them
   * @param error one int, for the errno of a failure, or 0
   * @return its handle; {@link NativeStatus#NO_MEMORY} when the disk has not so many bytes
   */
  public static native long open(
      byte[] folder, long byteSize, boolean cached, boolean threads, long[] faults, int[] error);

  /**
   * Describes a space.
   *
   * @param into four longs: 1 for io_uring, 1 for direct I/O, what offsets and lengths are
   *     multiples of, what addresses are
   */
  public static native int describe(long space, long[] into);

  /**
   * Begins to move bytes between a region and the space.
   *
   * @param write whether into the space
   * @param deadlineNanos in terms of {@link System#nanoTime()}; 0 for none
   * @return {@link NativeStatus#BUSY} when {@link #MAX_REQUESTS} are there
   */
  public static native int submit(
      long space,
      long ticket,
      boolean write,
      long region,
      long regionOffset,
      long offset,
      long byteSize,
      long deadlineNanos);

  /**
   * Waits for completions.
   *
   * @param into room for {@link #MAX_REQUESTS} completions
   * @return how many there are; {@link NativeStatus#STALE} when it is closed and none is left
   */
  public static native int await(long space, long maxNanos, long[] into);

  /** Gives a request up; its completion follows. Of no effect on one that has ended. */
  public static native void cancel(long space, long ticket);

  /** Cancels all requests, and returns when the kernel has let go of their regions. Idempotent. */
  public static native void close(long space);

  /** Makes the handle of a closed space stale, and frees the space. Idempotent. */
  public static native void forget(long space);
}
