package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.event.Until;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.testing.TestSettings;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange.Range;
import io.dynamo.transfer.RegionReadContract;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.tcp.TcpRegionExchange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;

/** Reads by the memory that two exchanges of one process share, and by TCP where they do not. */
class SharedMemoryReadTest extends RegionReadContract {
  private final Metrics metrics = new Metrics();

  @Override
  protected NativeHostMemory newMemory() {
    return new NativeHostMemory();
  }

  @Override
  protected SharedMemoryExchange newExchange() {
    return exchange(memory, Thread.ofPlatform().daemon().factory());
  }

  private SharedMemoryExchange exchange(HostMemory over, ThreadFactory threads) {
    var settings = TestSettings.defaults();
    return new SharedMemoryExchange(
        new TcpRegionExchange(settings.tcp(), settings.transfer(), loops),
        over,
        metrics,
        threads,
        SharedMemoryPeer.PATIENT);
  }

  private long bytesRead(String path) {
    return metrics.counter(TransferMetrics.READ_BYTES, new Label("path", path)).value();
  }

  /** Waits for the counter, which follows the end of a transfer. */
  private void awaitRead(String path, long bytes) {
    Until.holds(() -> bytesRead(path) >= bytes);
    assertThat(bytesRead(path)).isEqualTo(bytes);
  }

  @Test
  void theBytesTakeNoNetwork() throws Exception {
    try (var export = lend()) {
      assertThat(export.address().sharing()).isNotNull();
      for (int i = 0; i < 3; i++) {
        assertThat(start(export.address()).await(soon())).isEqualTo(SIZE);
      }
    }
    assertThat(bytes(target)).isEqualTo(data);
    awaitRead("shm", 3L * SIZE);
    assertThat(bytesRead("tcp")).isZero();
  }

  /** Memory stays mapped for the next read, and is let go at the end of the lease. */
  @Test
  void aLeaseIsMappedOnce() throws Exception {
    long before = NativeTransfer.heldBytes();
    var export = lend();
    start(export.address()).await(soon());
    Until.holds(() -> NativeTransfer.heldBytes() == before + SIZE);
    start(export.address()).await(soon());
    assertThat(NativeTransfer.heldBytes()).isEqualTo(before + SIZE);
    export.close();
    Until.holds(() -> NativeTransfer.heldBytes() == before);
  }

  /** The end of a lease for reads leaves the region as it is, for the next lease of either kind. */
  @Test
  void aRegionIsSharedAgainAfterALeaseForReads() throws Exception {
    for (byte round = 1; round <= 3; round++) {
      source.write(0, ByteBuffer.wrap(new byte[] {round}));
      try (var export = lend()) {
        start(export.address()).await(soon());
        assertThat(bytes(target)).startsWith(round);
      }
    }
    awaitRead("shm", 3L * SIZE);
    try (var writable = owner.export(source, LEASE)) {
      assertThat(writable.address().sharing()).isNotNull();
    }
  }

  /** The end of the lease for writes would take the pages away from readers. */
  @Test
  void aRegionIsSharedForReadsOrForWrites() throws Exception {
    try (var readable = lend();
        var writable = owner.export(source, LEASE)) {
      assertThat(readable.address().sharing()).isNotNull();
      assertThat(writable.address().sharing()).isNull();
      var one = memory.allocate(1);
      one.write(0, ByteBuffer.wrap(new byte[] {42}));
      reader.write(one, 1, writable.address(), soon()).await(soon());
      start(readable.address()).await(soon());
      assertThat(bytes(target)).startsWith(42);
    }
    try (var writable = owner.export(source, LEASE);
        var readable = lend()) {
      assertThat(writable.address().sharing()).isNotNull();
      assertThat(readable.address().sharing()).isNull();
      start(readable.address()).await(soon());
    }
    awaitRead("shm", SIZE);
    awaitRead("tcp", SIZE);
  }

  @Test
  void anExportThatIsClosedTwiceEndsOneUse() {
    var first = lend();
    try (var second = lend()) {
      first.close();
      first.close();
      try (var writable = owner.export(source, LEASE)) {
        assertThat(writable.address().sharing()).as("%s still reads", second).isNull();
      }
    }
  }

  @Test
  void moreReadsThanThreadsTakeTcp() throws Exception {
    var runs = new ArrayList<Transfer>();
    try (var export = lend()) {
      for (int i = 0; i < 24; i++) {
        runs.add(
            reader.read(export.address(), new Range(0, 0, SIZE), memory.allocate(SIZE), soon()));
      }
      for (var one : runs) {
        assertThat(one.await(soon())).isEqualTo(SIZE);
      }
    }
    Until.holds(() -> bytesRead("shm") + bytesRead("tcp") == 24L * SIZE);
    assertThat(bytesRead("shm")).isPositive();
  }

  @Test
  void withoutAThreadTheBytesTakeTcp() throws Exception {
    try (var export = lend();
        var starved =
            exchange(
                memory,
                _ -> {
                  throw new OutOfMemoryError("unable to create native thread");
                })) {
      var reading = starved.read(export.address(), new Range(0, 0, SIZE), target, soon());
      assertThat(reading.await(soon())).isEqualTo(SIZE);
    }
    assertThat(bytes(target)).isEqualTo(data);
    awaitRead("tcp", SIZE);
  }

  @Test
  void memoryOfJavaIsReadAndReadsByTcp() throws Exception {
    try (var heap = new JavaHostMemory();
        var plain = exchange(heap, Thread.ofPlatform().daemon().factory());
        var shared = lend();
        var here = heap.allocate(SIZE)) {
      assertThat(plain.read(shared.address(), new Range(0, 0, SIZE), here, soon()).await(soon()))
          .isEqualTo(SIZE);
      assertThat(bytes(here)).isEqualTo(data);
      try (var export = plain.export(here, Permission.READ, LEASE)) {
        assertThat(export.address().sharing()).isNull();
        start(export.address()).await(soon());
      }
      assertThat(bytes(target)).isEqualTo(data);
    }
    awaitRead("tcp", 2L * SIZE);
    assertThat(bytesRead("shm")).isZero();
  }
}
