package io.dynamo.transfer;

/** The lanes that bytes take from one place to another. */
public sealed interface TransferPlan {
  /** One lane leads there. */
  record Direct(TransferLane lane) implements TransferPlan {}

  /** Bytes stop in pinned memory of this process between two lanes. */
  record Staged(TransferLane first, TransferLane second) implements TransferPlan {}

  /**
   * No lane leads there.
   *
   * @param reason the lanes that are missing, or why there can be none
   */
  record Unsupported(String reason) implements TransferPlan {}
}
