package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.error.CancelledException;
import io.dynamo.event.Until;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange.Range;
import io.dynamo.transfer.RegionReadContract;
import io.dynamo.transfer.Transfer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
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
    return SharedMemoryPeer.exchange(over, loops, metrics, threads, SharedMemoryPeer.PATIENT);
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
    var begin = new CountDownLatch(1);
    try (var export = lend();
        var busy = exchange(memory, task -> Thread.ofPlatform().unstarted(after(begin, task)))) {
      for (int i = 0; i < 24; i++) {
        var range = new Range(0, 0, SIZE);
        runs.add(busy.read(export.address(), range, memory.allocate(SIZE), soon()));
      }
      for (var one : runs.subList(16, 24)) {
        assertThat(one.await(soon())).isEqualTo(SIZE);
      }
      awaitRead("tcp", 8L * SIZE);
      begin.countDown();
      for (var one : runs) {
        assertThat(one.await(soon())).isEqualTo(SIZE);
      }
    }
    awaitRead("shm", 16L * SIZE);
    assertThat(bytesRead("tcp")).isEqualTo(8L * SIZE);
  }

  private static Runnable after(CountDownLatch begin, Runnable task) {
    return () -> {
      try {
        begin.await();
        task.run();
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    };
  }

  /** No copy writes into the target after the read has failed: it is in use again. */
  @Test
  void aReadWhoseThreadIsInterruptedEndsWithItsCopy() throws Exception {
    var late = Duration.ofMillis(300);
    var threads = new LinkedBlockingQueue<Thread>();
    try (var slow = new NativeHostMemory(NativeFaults.NONE.delay(1, late));
        var exchange =
            exchange(
                slow,
                task -> {
                  var thread = Thread.ofPlatform().daemon().unstarted(task);
                  threads.add(thread);
                  return thread;
                });
        var export = lend()) {
      var here = slow.allocate(SIZE);
      here.write(0, ByteBuffer.wrap(untouched()));
      var reading = exchange.read(export.address(), new Range(0, 0, SIZE), here, soon());
      var copying = threads.take();
      Until.holds(() -> copying.getState() == Thread.State.TIMED_WAITING);
      copying.interrupt();
      assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> reading.await(soon()));
      here.write(0, ByteBuffer.wrap(untouched()));
      TimeUnit.NANOSECONDS.sleep(2 * late.toNanos());
      assertThat(bytes(here)).isEqualTo(untouched());
    }
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
