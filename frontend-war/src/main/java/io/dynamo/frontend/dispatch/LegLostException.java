package io.dynamo.frontend.dispatch;

import io.dynamo.error.Migratable;

/**
 * A leg ended because its worker was lost, and the generation may go on elsewhere: what fault
 * tolerance retries on.
 */
public final class LegLostException extends RuntimeException {
  private final transient Migratable reason;

  LegLostException(Migratable reason) {
    super(reason.getMessage(), reason, false, false);
    this.reason = reason;
  }

  /** The cause of the loss; the client gets it when the request is not retried. */
  public Migratable reason() {
    return reason;
  }
}
