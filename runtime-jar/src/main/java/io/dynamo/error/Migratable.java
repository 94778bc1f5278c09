package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/** The worker is at fault, not the request: another worker may continue with the tokens so far. */
public abstract non-sealed class Migratable extends DynamoException {
  protected Migratable(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
