package io.dynamo.natives;

import org.jspecify.annotations.Nullable;

/**
 * The functions of UCX, which is opened at run time, without a Java layer. A transport is named by
 * a handle and works on a thread of its own: commands are handed over with a ticket, and each ends
 * with one event. Safe for concurrent use; only {@link #await}, {@link #close} and {@link #probe}
 * wait. Results below zero are {@linkplain NativeStatus status codes}.
 */
public final class NativeUcx {
  /** The most commands that may run, or have ended and wait to be taken. */
  public static final int MAX_COMMANDS = 4096;

  /** The bytes of the proof that the owner of a region publishes beside it. */
  public static final int PROOF_BYTES = 32;

  /** The longs of a range: where its bytes begin in the source and in the target, their number. */
  public static final int RANGE_LONGS = 3;

  /** The longs of an event: ticket, status, the library's own code, a number. */
  public static final int EVENT_LONGS = 4;

  /** UCX's own code in the event of a write whose owner has not answered in time. */
  public static final long NO_ANSWER = -20;

  /** The ticket of the event that follows {@link #open}. */
  public static final long OPEN_TICKET = 0;

  static {
    NativeLibrary.ensureLoaded();
  }

  private NativeUcx() {}

  /**
   * Starts a transport. Its first event has {@link #OPEN_TICKET}: {@link NativeStatus#OK} with the
   * library's path and version, {@link NativeStatus#IO} when there is no library, {@link
   * NativeStatus#UNSUPPORTED} when it has no device for the transports, or another status.
   *
   * @param candidates paths of the library, or names that the system's loader looks for, tried in
   *     order
   * @param transports a list as UCX has it: {@code rc,dc}
   * @param isRdmaRequired whether a connection is refused whose bytes no network card places
   */
  public static native long open(byte[][] candidates, byte[] transports, boolean isRdmaRequired);

  /**
   * Lends a region. The event has the offer for the other process as text, and the lease as number.
   *
   * @param ticket above 0, as of all commands
   * @param proof {@link #PROOF_BYTES} bytes that only holders of the lease's secret know
   * @param endNanos the end of the lease in terms of {@link System#nanoTime()}
   */
  public static native int lend(
      long transport, long ticket, long region, byte[] proof, long endNanos);

  /** Ends a lease. Once its event is there, nothing writes into the region any more. */
  public static native int endLease(long transport, long ticket, long lease);

  /**
   * Writes into a region that another process lends. The event has the number of bytes; that of a
   * failed write has 1 when bytes may have been written, else 0. An owner that does not answer ends
   * it after half a second, with {@link NativeStatus#PEER_LOST} and {@link #NO_ANSWER}.
   *
   * @param range {@link #RANGE_LONGS} longs
   * @param deadlineNanos in terms of {@link System#nanoTime()}
   */
  public static native int write(
      long transport,
      long ticket,
      long region,
      long[] range,
      byte[] offer,
      byte[] proof,
      long deadlineNanos);

  /** Gives a write up; its event follows. Of no effect on others. */
  public static native void cancel(long transport, long ticket);

  /**
   * Waits for the next event.
   *
   * @param numbers {@link #EVENT_LONGS} longs
   * @return its text; null when there is none, with {@link NativeStatus#TIMEOUT} as status, or
   *     {@link NativeStatus#STALE} when none will come any more
   */
  public static native byte @Nullable [] await(long transport, long maxNanos, long[] numbers);

  /**
   * Ends all commands and leases, and the transport. Idempotent.
   *
   * @return {@link NativeStatus#TIMEOUT} when the library did not return in time
   */
  public static native int close(long transport, long maxNanos);

  /** Makes the handle of a closed transport stale. Idempotent. */
  public static native void forget(long transport);

  /**
   * Opens the library and describes it as a JSON object: {@code present}, and its {@code path} and
   * {@code version} or the {@code reason}. Null when memory ran out.
   */
  public static native @Nullable String probe(byte[][] candidates, byte[] transports);
}
