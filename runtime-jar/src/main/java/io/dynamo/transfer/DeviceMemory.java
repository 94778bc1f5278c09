package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.TransferClient.Priority;

/**
 * Memory of one GPU, and host memory that it reaches. Safe for concurrent use; every offset is
 * checked. A GPU that fails in a way that its driver does not recover from is lost: every method
 * that needs it throws {@link DeviceLostException} then, or ends its transfer with it.
 */
public interface DeviceMemory extends AutoCloseable {
  /** A region of the GPU's memory. The processor cannot read it: its bytes are copied. */
  interface DeviceRegion extends BlockRegion {}

  /** The ways in which the processor uses pinned memory. */
  enum PinnedUse {
    READ_AND_WRITE,
    /** It only writes: reads are one to two orders of magnitude slower than of other memory. */
    WRITE_ONLY
  }

  /**
   * A GPU as its driver describes it.
   *
   * @param uuid as nvidia-smi prints it
   * @param byteSize of its memory
   * @param driverVersion the CUDA version that its driver supports, such as 12.8
   * @param whyNoKernels why copies go without kernels, or empty when kernels take part
   */
  record DeviceFacts(
      String name,
      String uuid,
      long byteSize,
      String computeCapability,
      String driverVersion,
      String whyNoKernels) {}

  DeviceFacts facts();

  /**
   * Allocates zeroed memory of the GPU.
   *
   * @throws DeviceMemoryExhaustedException if it does not have as many bytes
   */
  DeviceRegion allocate(long byteSize);

  /**
   * Allocates zeroed host memory that the GPU reaches without a copy in between: a region like
   * others of the host memory that this was opened with.
   *
   * @throws HostMemoryExhaustedException if the machine does not have as many bytes
   */
  HostMemory.Region allocatePinned(long byteSize, PinnedUse use);

  /**
   * Makes a region of host memory reachable for the GPU until it is closed. Copies are right
   * without it, and slower.
   *
   * @return false when it was reachable
   */
  boolean pin(HostMemory.Region region);

  /**
   * Returns the client that copies between regions of this memory, and between them and regions of
   * the host memory that this was opened with; one for all. At least one side of a copy is on the
   * GPU.
   */
  TransferClient transfers();

  /**
   * Moves blocks into another order of their dimensions by a kernel; ends like {@link
   * TransferClient#copy}. Both sides are regions of the GPU or pinned ones.
   *
   * @throws UnsupportedOperationException when the GPU has no kernels, or does not reach a side
   */
  Transfer permute(
      BlockRegion source,
      BlockRegion target,
      BlockPermutation permutation,
      Priority priority,
      Deadline deadline);

  /** Ends all transfers, and closes all regions of the GPU. Idempotent. */
  @Override
  void close();
}
