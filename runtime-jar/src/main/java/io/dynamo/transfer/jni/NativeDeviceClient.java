package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.natives.CudaDevices;
import io.dynamo.natives.NativeStatus;
import io.dynamo.transfer.BlockPermutation;
import io.dynamo.transfer.BlockRegion;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient;

/** Copies to, from and within a GPU's memory on its native thread. Safe for concurrent use. */
final class NativeDeviceClient implements TransferClient {
  private final NativeDeviceMemory memory;
  private final long device;
  private final DeviceRequests requests;

  NativeDeviceClient(NativeDeviceMemory memory, long device, DeviceRequests requests) {
    this.memory = memory;
    this.device = device;
    this.requests = requests;
  }

  @Override
  public String kind() {
    return "cuda";
  }

  @Override
  public int capacity() {
    return CudaDevices.MAX_REQUESTS;
  }

  @Override
  public Transfer copy(
      BlockRegion source,
      BlockRegion target,
      CopyBatch batch,
      Priority priority,
      Deadline deadline) {
    long[] triples = batch.toArray();
    return start(
        source,
        target,
        deadline,
        (from, to, ticket, until) ->
            CudaDevices.submit(
                device, ticket, from, to, priority == Priority.ONBOARD, until, triples),
        status -> failure(status, source, target, batch));
  }

  private static RuntimeException failure(
      NativeStatus status, BlockRegion source, BlockRegion target, CopyBatch batch) {
    if (status == NativeStatus.RANGE) {
      try {
        batch.requireWithin(source.byteSize(), target.byteSize());
      } catch (IndexOutOfBoundsException named) {
        return named;
      }
    }
    return failure(status, "ranges of the batch overlap, or neither side is on the GPU");
  }

  /** Otherwise as {@link io.dynamo.transfer.DeviceMemory#permute} says. */
  Transfer permute(
      BlockRegion source,
      BlockRegion target,
      BlockPermutation permutation,
      Priority priority,
      Deadline deadline) {
    long[] shape = permutation.shape();
    long[] pairs = permutation.pairs();
    return start(
        source,
        target,
        deadline,
        (from, to, ticket, until) ->
            CudaDevices.permute(
                device, ticket, from, to, priority == Priority.ONBOARD, until, shape, pairs),
        status -> failure(status, "blocks of the permutation overlap, or a dimension is empty"));
  }

  @FunctionalInterface
  private interface Call {
    int submit(long source, long target, long ticket, long deadlineNanos);
  }

  private Transfer start(
      BlockRegion source,
      BlockRegion target,
      Deadline deadline,
      Call call,
      DeviceRequests.Failures failures) {
    long from;
    long to;
    try {
      from = memory.handle(source);
      to = memory.handle(target);
    } catch (IllegalArgumentException foreign) {
      var refused = new Transfer(() -> {});
      refused.fail(foreign);
      return refused;
    }
    return requests.start(
        deadline, (ticket, until) -> call.submit(from, to, ticket, until), failures);
  }

  private static RuntimeException failure(NativeStatus status, String whyInvalid) {
    return switch (status) {
      case STALE -> new IllegalStateException("the region, its lease or the GPU's memory is over");
      case INVALID -> new IllegalArgumentException(whyInvalid);
      case RANGE -> new IndexOutOfBoundsException("a range leaves its region");
      case UNSUPPORTED ->
          new UnsupportedOperationException(
              "the GPU has no kernels, or does not reach a region; pin it");
      case OK,
          BACKEND,
          IO,
          TIMEOUT,
          CANCELLED,
          NO_MEMORY,
          BUSY,
          CORRUPT,
          PEER_LOST,
          DEVICE_LOST,
          AUTH ->
          new IllegalStateException("the native library failed: " + status);
    };
  }

  @Override
  public Counts counts() {
    var into = new long[6];
    CudaDevices.counts(device, into);
    return new Counts(into[0], into[1], into[2]);
  }

  /** Ends what runs, and does not close the memory. */
  @Override
  public void close() {
    requests.close();
  }
}
