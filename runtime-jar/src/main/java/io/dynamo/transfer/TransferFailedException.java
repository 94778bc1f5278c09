package io.dynamo.transfer;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Failed;
import org.jspecify.annotations.Nullable;

/** A transfer has failed: between two processes, or for another reason than its own arguments. */
public final class TransferFailedException extends Failed {
  /** The kinds of failure. */
  public enum Reason {
    /** The peer could not be reached, or its connection was lost. */
    PEER_LOST(1, ErrorCode.DISCONNECTED),
    /** The lease is over, or the region closed. */
    STALE(2, ErrorCode.UNAVAILABLE),
    /** The peer does not know the secret. */
    UNAUTHENTICATED(3, ErrorCode.INVALID_ARGUMENT),
    /** Bytes were damaged on the way, or the peer broke the protocol. */
    CORRUPT(4, ErrorCode.UNKNOWN),
    /** A range outside of the region. */
    RANGE(5, ErrorCode.INVALID_ARGUMENT),
    /** The library, the kernel or a device that moves the bytes failed. */
    BACKEND(6, ErrorCode.UNKNOWN),
    /** The lease is for reading and was written, or the other way round. */
    DENIED(7, ErrorCode.INVALID_ARGUMENT);

    private final int code;
    private final ErrorCode error;

    Reason(int code, ErrorCode error) {
      this.code = code;
      this.error = error;
    }

    /** Returns the number that stands for this reason between processes. */
    public int code() {
      return code;
    }

    /** Returns the reason of a number; {@link #CORRUPT} for one that is not known. */
    public static Reason of(int code) {
      for (var reason : values()) {
        if (reason.code == code) {
          return reason;
        }
      }
      return CORRUPT;
    }
  }

  private final Reason reason;

  public TransferFailedException(Reason reason, String message, @Nullable Throwable cause) {
    super(reason.error, message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
