package io.dynamo.transfer;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Refused;

/** A transfer was refused because as many are on their way as there is room for. */
public final class TransferBusyException extends Refused {
  public TransferBusyException(int capacity) {
    super(
        ErrorCode.RESOURCE_EXHAUSTED,
        "%d batches are being transferred, or their ring is full; wait for one to end"
            .formatted(capacity),
        null);
  }
}
