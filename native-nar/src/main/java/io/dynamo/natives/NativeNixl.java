package io.dynamo.natives;

import org.jspecify.annotations.Nullable;

/**
 * The functions of NIXL, which is opened at run time, without a Java layer. An agent is named by a
 * handle and works on a thread of its own: commands are handed over with a ticket, and each ends
 * with one event. Safe for concurrent use; only {@link #await}, {@link #close} and {@link #probe}
 * wait. Results below zero are {@linkplain NativeStatus status codes}.
 */
public final class NativeNixl {
  /** The most commands that may run, or have ended and wait to be taken. */
  public static final int MAX_COMMANDS = 4096;

  /** The most pieces of one transfer. */
  public static final int MAX_PIECES = 65536;

  /** The most bytes of a peer's metadata. */
  public static final int MAX_METADATA_BYTES = 16 << 20;

  /** The longs of a piece: registration, address, length, address at the peer, device there. */
  public static final int PIECE_LONGS = 5;

  /** The longs of an event: ticket, status, the library's own code, a number. */
  public static final int EVENT_LONGS = 4;

  /** The ticket of the event that follows {@link #open}. */
  public static final long OPEN_TICKET = 0;

  static {
    NativeLibrary.ensureLoaded();
  }

  private NativeNixl() {}

  /**
   * Starts an agent. Its first event has {@link #OPEN_TICKET}: {@link NativeStatus#OK} with a line
   * for each backend that is absent, {@link NativeStatus#IO} when there is no library, or another
   * status with the reason.
   *
   * @param candidates paths of the library, or names that the system's loader looks for, tried in
   *     order
   * @param pluginFolder of the library's plug-ins; empty for the one beside it
   * @param backends for each its name, the number of its parameters, and a key and a value for each
   *     of them
   */
  public static native long open(
      byte[][] candidates, byte[] pluginFolder, byte[] name, byte[][] backends);

  /**
   * Registers memory, which must stay until it is deregistered. Its event has the registration as
   * number.
   *
   * @param ticket above 0, as of all commands
   * @param kind 0 host, 1 device, 2 block, 3 object, 4 file
   */
  public static native int register(
      long agent, long ticket, int kind, long address, long byteSize, long device);

  /** Deregisters memory. Its event follows when no transfer can touch the memory any more. */
  public static native int deregister(long agent, long ticket, long registration);

  /** Asks for the agent's metadata, the text of the event. */
  public static native int metadata(long agent, long ticket);

  /**
   * Waits for a notification. The event has the name of its sender.
   *
   * @param deadlineNanos in terms of {@link System#nanoTime()}; 0 for none
   */
  public static native int watch(long agent, long ticket, byte[] key, long deadlineNanos);

  /**
   * Moves bytes to or from a peer. The event has the number of bytes, and as text the name of the
   * peer; {@link NativeStatus#PEER_LOST} when its connection broke. After {@link
   * NativeStatus#CANCELLED} and {@link NativeStatus#TIMEOUT} the memory stays registered until the
   * agent is closed, since the network may still touch it.
   *
   * @param write whether to the peer
   * @param pieces {@link #PIECE_LONGS} longs for each
   * @param notification sent to the peer when the bytes are in place; empty for none
   */
  public static native int transfer(
      long agent,
      long ticket,
      boolean write,
      int remoteKind,
      long[] pieces,
      byte[] peerMetadata,
      byte[] notification,
      long deadlineNanos);

  /** Gives a watch or a transfer up; its event follows. Of no effect on others. */
  public static native void cancel(long agent, long ticket);

  /** Returns 0 before, 1 after and 2 well after the start of a command; -1 when it has ended. */
  public static native int phase(long agent, long ticket);

  /**
   * Waits for the next event.
   *
   * @param numbers {@link #EVENT_LONGS} longs
   * @return its text; null when there is none, with {@link NativeStatus#TIMEOUT} as status, or
   *     {@link NativeStatus#STALE} when none will come any more
   */
  public static native byte @Nullable [] await(long agent, long maxNanos, long[] numbers);

  /**
   * Ends all commands, deregisters all memory and ends the agent. Idempotent.
   *
   * @return {@link NativeStatus#TIMEOUT} when the library did not return in time; then the memory
   *     must stay for ever
   */
  public static native int close(long agent, long maxNanos);

  /** Makes the handle of a closed agent stale. Idempotent. */
  public static native void forget(long agent);

  /**
   * Opens the library and describes it as a JSON object: {@code present}, and its {@code path} and
   * {@code plugins} or the {@code reason}. Null when memory ran out.
   */
  public static native @Nullable String probe(byte[][] candidates, byte[] pluginFolder);
}
