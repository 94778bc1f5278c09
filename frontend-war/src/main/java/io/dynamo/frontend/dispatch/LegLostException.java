package io.dynamo.frontend.dispatch;

import io.dynamo.error.Migratable;

/**
 * A leg ended because its worker was lost, and the generation may continue elsewhere: the exception
 * on which fault tolerance retries.
 */
public final class LegLostException extends RuntimeException {
  private final transient Migratable reason;

  LegLostException(Migratable reason) {
    super(reason.getMessage(), reason, false, false);
    this.reason = reason;
  }

  /** Returns the cause of the loss; the client gets it when the request is not retried. */
  public Migratable reason() {
    return reason;
  }
}
