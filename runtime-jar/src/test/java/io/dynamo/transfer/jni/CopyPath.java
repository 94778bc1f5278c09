package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RandomBatch;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import java.nio.ByteBuffer;
import java.util.Random;

/** Copies between two regions of one memory. */
final class CopyPath extends TransferPath {
  private final HostMemory memory;
  private final Region source;
  private final Region target;

  CopyPath(HostMemory memory) {
    this.memory = closing(memory);
    this.source = memory.allocate(SIZE);
    this.target = memory.allocate(SIZE);
  }

  @Override
  HostMemory memory() {
    return memory;
  }

  @Override
  void fillSource(byte[] data) {
    source.write(0, ByteBuffer.wrap(data));
  }

  @Override
  void fillTarget(byte[] data) {
    target.write(0, ByteBuffer.wrap(data));
  }

  @Override
  byte[] target() {
    return bytes(target);
  }

  @Override
  Transfer start(CopyBatch ranges, Deadline deadline) {
    return memory.transfers().copy(source, target, ranges, Priority.ONBOARD, deadline);
  }

  @Override
  void closeSource() {
    source.close();
  }

  @Override
  void closeTarget() {
    target.close();
  }

  @Override
  RandomBatch draw(Random random, byte[] from, byte[] to) {
    return RandomBatch.scattered(random, from, to);
  }

  @Override
  long[][] rangesOutside() {
    return scatteredOutside();
  }

  /** Returns ranges that leave a side, for paths that take any. */
  static long[][] scatteredOutside() {
    return new long[][] {
      {SIZE, 0, 1},
      {0, SIZE, 1},
      {-1, 0, 1},
      {0, -1, 1},
      {0, 0, -1},
      {1, 0, SIZE},
      {0, 1, SIZE},
      {Long.MAX_VALUE, 0, 1},
      {0, 1, Long.MAX_VALUE}
    };
  }
}
