package io.dynamo.error;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A failure with a code that survives the wire. The subclasses say how it can be handled: try
 * another worker ({@link Migratable}), come back later ({@link Refused}), change the request
 * ({@link Invalid}), or not at all ({@link Failed}).
 */
public abstract sealed class DynamoException extends RuntimeException
    permits Migratable, Refused, Invalid, Failed {
  private final ErrorCode code;

  DynamoException(ErrorCode code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  public final ErrorCode code() {
    return code;
  }

  /** Returns the status for an HTTP client: that of the code, unless a worker named another. */
  public int httpStatus() {
    return code.httpStatus();
  }

  /**
   * Returns the kind of a failure for metrics and logs: its code, or that it is not one of ours.
   */
  public static String kindOf(Throwable failure) {
    return failure instanceof DynamoException known
        ? known.code().name().toLowerCase(Locale.ROOT)
        : "internal";
  }
}
