package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/** Nothing was begun: there is no room, or nobody to serve. The same request may succeed later. */
public abstract non-sealed class Refused extends DynamoException {
  protected Refused(ErrorCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
