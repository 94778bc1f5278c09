package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/** The request itself is at fault: it fails the same way everywhere. */
public abstract non-sealed class Invalid extends DynamoException {
  protected Invalid(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
