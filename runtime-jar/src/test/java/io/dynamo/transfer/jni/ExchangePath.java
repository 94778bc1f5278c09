package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RandomBatch;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.jni.TransferPair.Fault;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Random;

/** Writes from one exchange into a region that another one lends, by shared memory or by TCP. */
final class ExchangePath extends TransferPath {
  private final NativeHostMemory memory;
  private final Region source;
  private final Region target;
  private final RegionExchange writer;
  private final RegionExchange.Export export;
  private final RegionAddress to;

  ExchangePath(boolean isShared, Map<Integer, Fault> faults) {
    var plan = isShared ? FaultPlans.of(faults, 0) : NativeFaults.NONE;
    this.memory = closing(new NativeHostMemory(plan));
    this.source = memory.allocate(SIZE);
    this.target = memory.allocateShared(SIZE);
    var loops = closing(new EventLoops(1));
    var owner = closing(exchange(memory, loops));
    this.export = closing(owner.export(target, Duration.ofMinutes(5)));
    this.writer = closing(exchange(memory, loops));
    var lent = export.address();
    if (isShared) {
      this.to = lent;
    } else {
      int port =
          faults.isEmpty() ? lent.port() : closing(new TcpFaultLink(lent.port(), faults)).port();
      this.to = new RegionAddress(lent.host(), port, lent.lease(), lent.secret(), lent.byteSize());
    }
  }

  static RegionExchange exchange(HostMemory memory, EventLoops loops) {
    return SharedMemoryPeer.exchange(memory, loops, new Metrics());
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
    return writer.write(source, ranges.count() == 0 ? 0 : ranges.length(0), to, deadline);
  }

  @Override
  void closeSource() {
    source.close();
  }

  @Override
  void closeTarget() {
    export.close();
  }

  @Override
  RandomBatch draw(Random random, byte[] from, byte[] into) {
    return RandomBatch.prefix(random, from, into);
  }

  @Override
  long[][] rangesOutside() {
    return new long[][] {{0, 0, SIZE + 1}, {0, 0, -1}, {0, 0, Long.MAX_VALUE}};
  }
}
