package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/** The request was accepted and could not be carried to its end; nobody else would do better. */
public abstract non-sealed class Failed extends DynamoException {
  protected Failed(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
