package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/**
 * The engine, or code beside it, failed while it served a request. The message stays in the log.
 */
public final class EngineFailedException extends Failed {
  public EngineFailedException(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
