package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/**
 * A failure before any work: there is no room, or no worker to serve the request. The same request
 * may succeed later.
 */
public abstract non-sealed class Refused extends DynamoException {
  protected Refused(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
