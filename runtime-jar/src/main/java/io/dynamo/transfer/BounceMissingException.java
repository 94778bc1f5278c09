package io.dynamo.transfer;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Refused;

/** A transfer needs memory where its bytes stop between two lanes, and its mover has none. */
public final class BounceMissingException extends Refused {
  public BounceMissingException(BlockPlace from, BlockPlace to, TransferPlan.WithoutBounce plan) {
    super(
        ErrorCode.UNAVAILABLE,
        "from %s to %s bytes stop between %s and %s, and there is no memory for that; give the"
                .formatted(from, to, plan.first().label(), plan.second().label())
            + " mover a pool of slots",
        null);
  }
}
