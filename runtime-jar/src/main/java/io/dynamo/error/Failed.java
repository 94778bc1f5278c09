package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/** The request was accepted but could not be completed; another worker would fail as well. */
public abstract non-sealed class Failed extends DynamoException {
  protected Failed(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
