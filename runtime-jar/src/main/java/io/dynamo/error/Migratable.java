package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/** The worker is at fault, not the request: another worker may continue with the tokens so far. */
public abstract non-sealed class Migratable extends DynamoException {
  /**
   * @param code one that is migratable for other processes, too
   */
  protected Migratable(ErrorCode code, String message, @Nullable Throwable cause) {
    super(requireMigratable(code), message, cause);
  }

  private static ErrorCode requireMigratable(ErrorCode code) {
    if (!code.isMigratable()) {
      throw new IllegalArgumentException(
          "another process does not go on elsewhere after " + code + "; use a migratable code");
    }
    return code;
  }
}
