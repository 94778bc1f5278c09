package io.dynamo.transfer.nixl;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Failed;
import org.jspecify.annotations.Nullable;

/** An operation of NIXL has failed. */
public final class NixlException extends Failed {
  /** The kinds of failure. */
  public enum Reason {
    /** There is no NIXL here, or none of its backends works; the message says what is missing. */
    ABSENT(ErrorCode.UNAVAILABLE),
    /** The connection to the peer broke, or the peer died. */
    PEER_LOST(ErrorCode.DISCONNECTED),
    /** The time of the operation passed before its end. */
    EXPIRED(ErrorCode.RESPONSE_TIMEOUT),
    /** The operation was cancelled. */
    CANCELLED(ErrorCode.CANCELLED),
    /** An argument that can never be right. */
    REFUSED(ErrorCode.INVALID_ARGUMENT),
    /** The peer's metadata is damaged or does not fit. */
    CORRUPT(ErrorCode.INVALID_ARGUMENT),
    /** Too much at once. */
    BUSY(ErrorCode.RESOURCE_EXHAUSTED),
    /** The connection was closed. */
    CLOSED(ErrorCode.UNAVAILABLE),
    /** NIXL failed for a reason that it does not name. */
    BACKEND(ErrorCode.UNKNOWN);

    private final ErrorCode error;

    Reason(ErrorCode error) {
      this.error = error;
    }
  }

  private final Reason reason;

  public NixlException(Reason reason, String message, @Nullable Throwable cause) {
    super(reason.error, message, cause);
    this.reason = reason;
  }

  public NixlException(Reason reason, String message) {
    this(reason, message, null);
  }

  public Reason reason() {
    return reason;
  }
}
