package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;

/**
 * Copies batches of ranges between regions of one memory in the background. Safe for concurrent
 * use; never blocks its caller. Implementations differ in speed only: they pass one suite of tests.
 *
 * <p>Each batch ends once, also when the client is closed: with the bytes that were moved, or with
 * {@link IndexOutOfBoundsException} (a range leaves its region; nothing was moved), {@link
 * IllegalArgumentException} (the outcome would depend on the order, or a region belongs to another
 * memory; nothing was moved), {@link IllegalStateException} (a region is closed; nothing was
 * moved), {@link io.dynamo.error.DeadlineExceededException}, {@link
 * io.dynamo.error.CancelledException}, {@link TransferFailedException} (what moves the bytes
 * failed) or, of a GPU, {@link DeviceLostException} (some ranges may have been moved). A region
 * that is closed while a batch works on it keeps its bytes until the batch has ended. A batch of
 * very many ranges goes in parts: it is checked as a whole, and a region that is closed between two
 * of them ends it after the first. Batches are not ordered among themselves.
 */
public interface TransferClient extends AutoCloseable {
  /** The order in which waiting batches go. */
  enum Priority {
    /** A request waits for the bytes. */
    ONBOARD,
    /** No request waits for the bytes. */
    OFFLOAD
  }

  /** The batches and bytes that a client has dealt with since it was opened. */
  record Counts(long completed, long failed, long bytes) {}

  /** Returns the name of the implementation, {@code native}, {@code java} or {@code cuda}. */
  String kind();

  /** Returns how many batches may be on their way at once. */
  int capacity();

  /**
   * Starts to copy a batch, which must not change afterwards.
   *
   * @throws TransferBusyException when too many batches are on their way
   * @throws IllegalStateException when the client is closed
   */
  Transfer copy(
      BlockRegion source,
      BlockRegion target,
      CopyBatch batch,
      Priority priority,
      Deadline deadline);

  Counts counts();

  /**
   * Ends all batches, those that run as cancelled after a short time, and the thread. Idempotent.
   */
  @Override
  void close();
}
