package io.dynamo.natives;

/**
 * The functions by which processes of one host and one user share the memory of regions, without a
 * Java layer. A lender answers on a thread of its own; a borrower asks, and gets a region of its
 * own over the same bytes, that {@link NativeTransfer#release} ends. Lenders and loans are named by
 * handles that are stale once they are closed. Safe for concurrent use. Results below zero are
 * {@linkplain NativeStatus status codes}.
 */
public final class RegionLoans {
  /** The length of the secret that a lease is known by. */
  public static final int SECRET_BYTES = 32;

  /** The most bytes of a lender's name. */
  public static final int MAX_NAME_BYTES = 64;

  static {
    NativeLibrary.ensureLoaded();
  }

  private RegionLoans() {}

  /**
   * Starts a lender.
   *
   * @param name which no other process may have
   * @return its handle, or a status
   */
  public static native long openLender(byte[] name);

  /**
   * Lends a region of {@link NativeTransfer#allocateShared}. Does not wait.
   *
   * @param lease not used before
   * @param toRead for reading it, else for writing into it
   * @return {@link NativeStatus#BUSY} when too many leases run
   */
  public static native int lend(
      long lender, long lease, byte[] secret, long region, long nanos, boolean toRead);

  /**
   * Ends a lease: nobody is given its memory once this has returned. Who has it to write keeps it
   * until {@link NativeTransfer#freeze}; who reads it finds the lease over by {@link #confirm}
   * before it finds a byte that was written after this.
   */
  public static native void endLease(long lender, long lease);

  /** Ends a lender, its thread and all its leases. Idempotent. */
  public static native void closeLender(long lender);

  /**
   * Asks for the memory of a lease, without waiting.
   *
   * @param toRead as the lease has it; then the region must not be written, which would end the
   *     process
   * @return the handle of the loan; {@link NativeStatus#PEER_LOST} when no such lender is in reach,
   *     {@link NativeStatus#AUTH} when it is another user's, {@link NativeStatus#BUSY} when too
   *     many ask
   */
  public static native long ask(byte[] name, long lease, byte[] secret, boolean toRead);

  /**
   * Waits for the memory, on a platform thread.
   *
   * @param byteSize that it has to have
   * @return the region, once; {@link NativeStatus#BUSY} when there was no answer in {@code
   *     maxNanos}; {@link NativeStatus#CANCELLED} when the loan was closed
   */
  public static native long await(long loan, long byteSize, long maxNanos);

  /**
   * Looks whether the lease of a loan still runs, after a copy from its region.
   *
   * @return {@link NativeStatus#STALE} when the lease is over, or its end cannot be seen; then the
   *     copy may have bytes of the region's next use
   */
  public static native int confirm(long loan);

  /** Ends a loan, and a wait for it; a region that it gave stays. Idempotent. */
  public static native void closeLoan(long loan);

  /**
   * Starts a keeper: what it keeps stays mapped for further copies, until the lender ends the lease
   * or dies, or other memory takes its place.
   *
   * @return its handle, or a status
   */
  public static native long openKeeper();

  /**
   * Returns the region that a keeper has of a lease; {@link NativeStatus#STALE} when it has none.
   * The keeper may release it at any moment: an operation on it then fails, and touches nothing.
   */
  public static native long find(
      long keeper, byte[] name, long lease, byte[] secret, long byteSize, boolean toRead);

  /** Does as {@link #confirm}, for a region of a keeper that was lent to read. */
  public static native int confirmKept(long keeper, byte[] name, long lease, byte[] secret);

  /**
   * Hands a loan, and the region that it gave, over to a keeper. Both are the caller's as before
   * when the result is not {@link NativeStatus#OK}.
   */
  public static native int keep(long keeper, long loan);

  /** Releases what a keeper has, and ends its thread. Idempotent. */
  public static native void closeKeeper(long keeper);
}
