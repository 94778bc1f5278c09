package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RandomBatch;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;

/** Writes from one exchange into a region that another one lends, by UCX. */
final class UcxPath extends TransferPath {
  private final NativeHostMemory memory;
  private final Region source;
  private final Region target;
  private final RegionExchange writer;
  private final RegionExchange.Export export;

  UcxPath(UcxLibrary library) {
    this.memory = closing(new NativeHostMemory());
    this.source = memory.allocate(SIZE);
    this.target = memory.allocateShared(SIZE);
    var loops = closing(new EventLoops(1));
    var owner = closing(exchange(memory, loops, library, new Metrics()));
    this.export = closing(owner.export(target, Duration.ofMinutes(5)));
    this.writer = closing(exchange(memory, loops, library, new Metrics()));
  }

  /** Returns an exchange whose library has been opened, and works. */
  static UcxExchange exchange(
      NativeHostMemory memory, EventLoops loops, UcxLibrary library, Metrics metrics) {
    var exchange = opening(memory, loops, library, metrics);
    assertThat(exchange.awaitReady(Duration.ofSeconds(20))).as(library.probe()).isTrue();
    return exchange;
  }

  /** Returns an exchange that begins to open its library. */
  static UcxExchange opening(
      NativeHostMemory memory, EventLoops loops, UcxLibrary library, Metrics metrics) {
    return new UcxExchange(
        SharedMemoryPeer.exchange(memory, loops, metrics), memory, library, metrics);
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
    return writer.write(
        source, ranges.count() == 0 ? 0 : ranges.length(0), export.address(), deadline);
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
