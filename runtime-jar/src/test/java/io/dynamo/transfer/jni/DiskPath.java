package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RandomBatch;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.jni.TransferPair.Fault;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** Moves between a region and disk space. */
final class DiskPath extends TransferPath {
  private final NativeHostMemory memory = closing(new NativeHostMemory());
  private final boolean isWrite;
  private final Region region = memory.allocate(SIZE);
  private final NativeDiskSpace space;

  DiskPath(boolean isWrite, Path folder, Map<Integer, Fault> faults) {
    this.isWrite = isWrite;
    this.space =
        closing(
            new NativeDiskSpace(
                memory,
                folder,
                SIZE,
                NativeDiskSpace.Options.BEST,
                FaultPlans.ofDisk(faults, 1))); // after the one that fills it
  }

  @Override
  HostMemory memory() {
    return memory;
  }

  @Override
  void fillSource(byte[] data) throws InterruptedException {
    fill(isWrite, data);
  }

  @Override
  void fillTarget(byte[] data) throws InterruptedException {
    fill(!isWrite, data);
  }

  private void fill(boolean inRegion, byte[] data) throws InterruptedException {
    if (inRegion) {
      region.write(0, ByteBuffer.wrap(data));
      return;
    }
    try (var staging = memory.allocate(SIZE)) {
      staging.write(0, ByteBuffer.wrap(data));
      space.write(staging, 0, 0, SIZE, soon()).await(soon());
    }
  }

  @Override
  byte[] target() throws InterruptedException {
    if (!isWrite) {
      return bytes(region);
    }
    try (var staging = memory.allocate(SIZE)) {
      space.read(staging, 0, 0, SIZE, soon()).await(soon());
      return bytes(staging);
    }
  }

  @Override
  Transfer start(CopyBatch ranges, Deadline deadline) {
    long from = ranges.count() == 0 ? 0 : ranges.sourceOffset(0);
    long to = ranges.count() == 0 ? 0 : ranges.targetOffset(0);
    long length = ranges.count() == 0 ? 0 : ranges.length(0);
    return isWrite
        ? space.write(region, from, to, length, deadline)
        : space.read(region, to, from, length, deadline);
  }

  @Override
  void closeSource() {
    close(isWrite);
  }

  @Override
  void closeTarget() {
    close(!isWrite);
  }

  private void close(boolean theRegion) {
    if (theRegion) {
      region.close();
    } else {
      space.close();
    }
  }

  @Override
  RandomBatch draw(Random random, byte[] from, byte[] to) {
    return RandomBatch.single(random, from, to, space.alignment());
  }

  @Override
  long[][] rangesOutside() {
    return alignedOutside();
  }

  /** Returns aligned ranges that leave a side. */
  static long[][] alignedOutside() {
    int page = 4096;
    return new long[][] {
      {SIZE, 0, page},
      {0, SIZE, page},
      {-page, 0, page},
      {0, -page, page},
      {0, 0, -page},
      {page, 0, SIZE},
      {0, page, SIZE},
      {0, 0, Long.MAX_VALUE - page + 1}
    };
  }
}
