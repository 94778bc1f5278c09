package io.dynamo.transfer;

import io.dynamo.transfer.BlockPlace.Storage;

/** The lanes that bytes take from one place to another. */
public sealed interface TransferPlan {
  /** One lane leads there. */
  record Direct(TransferLane lane) implements TransferPlan {}

  /**
   * Bytes stop in memory of this process between two lanes.
   *
   * @param bounce the kind of memory, {@code PINNED} or {@code SYSTEM}
   */
  record Staged(TransferLane first, TransferLane second, Storage bounce) implements TransferPlan {}

  /** Bytes would have to stop between two lanes, and there is no memory for that. */
  record WithoutBounce(TransferLane first, TransferLane second) implements TransferPlan {}

  /**
   * No lane leads there.
   *
   * @param reason the lanes that are missing, or why there can be none
   */
  record Unsupported(String reason) implements TransferPlan {}
}
