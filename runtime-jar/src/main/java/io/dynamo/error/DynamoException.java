package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/**
 * A failure with a code that survives the wire. The layer below says what may be done about it: try
 * another worker ({@link Migratable}), come back later ({@link Refused}), change the request
 * ({@link Invalid}), or nothing ({@link Failed}).
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
}
