package io.dynamo.natives;

/**
 * The outcome of a call of {@link NativeTransfer}. Its numbers are those of {@code core/status.h}.
 */
public enum NativeStatus {
  OK(0),
  /** Given up by its caller. */
  CANCELLED(-1),
  /** An argument that can never be valid. */
  INVALID(-2),
  /** A range that exceeds its region. */
  RANGE(-3),
  /** A handle whose region was released. */
  STALE(-4),
  /** The other process is gone. */
  PEER_LOST(-5),
  /** An unexpected failure. */
  BACKEND(-6),
  /** A refusal by the kernel. */
  IO(-7),
  /** A deadline that passed. */
  TIMEOUT(-8),
  /** A request that this machine has no way to fulfil. */
  UNSUPPORTED(-9),
  /** A lack of memory. */
  NO_MEMORY(-10),
  /** Too many operations at once. */
  BUSY(-11),
  /** Damaged bytes. */
  CORRUPT(-12),
  /** A GPU that failed in a way that ends all work on it. */
  DEVICE_LOST(-13),
  /** The other process is another user's, or does not know the secret. */
  AUTH(-14);

  private final int code;

  NativeStatus(int code) {
    this.code = code;
  }

  public int code() {
    return code;
  }

  /** Returns the status of a result; every result from 0 up is {@link #OK}. */
  public static NativeStatus of(long result) {
    if (result >= 0) {
      return OK;
    }
    for (var status : values()) {
      if (status.code == result) {
        return status;
      }
    }
    return BACKEND;
  }
}
