package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/** A worker could not be reached, went silent, or cut its stream before the end. */
public final class WorkerLostException extends Migratable {
  public WorkerLostException(ErrorCode code, String message) {
    this(code, message, null);
  }

  public WorkerLostException(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
