package io.dynamo.transfer.jni;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.event.Until;
import io.dynamo.json.JsonObject;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.natives.RegionLoans;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.MemorySharing;
import io.dynamo.transfer.RegionExchangeContract;
import io.dynamo.transfer.Transfer;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Writes by the memory that two exchanges of one process share, and by TCP where they do not. */
class SharedMemoryExchangeTest extends RegionExchangeContract {
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

  /** Waits for the counter, which follows the end of a transfer. */
  private void awaitWritten(String path, long bytes) {
    Until.holds(() -> written(path) >= bytes);
    assertThat(written(path)).isEqualTo(bytes);
  }

  private long written(String path) {
    return metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", path)).value();
  }

  @Test
  void theBytesTakeNoNetwork() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      assertThat(export.address().sharing()).isNotNull();
      for (int i = 0; i < 3; i++) {
        write(SIZE, export.address());
      }
      var older = new LinkedHashMap<String, @Nullable Object>(export.address().toMembers());
      older.remove("shm");
      assertThat(RegionAddress.of(JsonObject.of(older)).sharing()).isNull();
    }
    awaitWritten("shm", 3L * SIZE);
    assertThat(written("tcp")).isZero();
  }

  /** Memory stays mapped for the next write, and is let go at the end of the lease. */
  @Test
  void aLeaseIsMappedOnce() throws Exception {
    long before = NativeTransfer.heldBytes();
    var export = owner.export(target, LEASE);
    write(1, export.address());
    Until.holds(() -> NativeTransfer.heldBytes() == before + SIZE);
    write(SIZE, export.address());
    assertThat(NativeTransfer.heldBytes()).isEqualTo(before + SIZE);
    export.close();
    Until.holds(() -> NativeTransfer.heldBytes() == before);
    assertThat(bytes(target)).isEqualTo(data);
  }

  @Test
  void moreWritesThanThreadsTakeTcp() throws Exception {
    var runs = new ArrayList<Transfer>();
    for (int i = 0; i < 24; i++) {
      var export = owner.export(memory.allocateShared(SIZE), LEASE);
      runs.add(writer.write(source, SIZE, export.address(), soon()));
    }
    for (var one : runs) {
      assertThat(one.await(soon())).isEqualTo(SIZE);
    }
    Until.holds(() -> written("shm") + written("tcp") == 24L * SIZE);
    assertThat(written("shm")).isPositive();
  }

  @Test
  void withoutAThreadTheBytesTakeTcp() throws Exception {
    try (var export = owner.export(target, LEASE);
        var starved =
            exchange(
                memory,
                _ -> {
                  throw new OutOfMemoryError("unable to create native thread");
                })) {
      var writing = starved.write(source, SIZE, export.address(), soon());
      assertThat(writing.await(soon())).isEqualTo(SIZE);
    }
    assertThat(bytes(target)).isEqualTo(data);
    awaitWritten("tcp", SIZE);
  }

  @Test
  void aViewOutlivesTheLease() throws Exception {
    var export = owner.export(target, LEASE);
    write(SIZE, export.address());
    try (var arena = Arena.ofConfined()) {
      var view = target.view(arena);
      export.close();
      assertThat(view.get(ValueLayout.JAVA_BYTE, 5)).isEqualTo(data[5]);
      target.write(5, ByteBuffer.wrap(new byte[] {99}));
      assertThat(view.get(ValueLayout.JAVA_BYTE, 5)).isEqualTo((byte) 99);
    }
  }

  @Test
  void aClosedExchangeAnswersNoBorrower() {
    var export = owner.export(target, LEASE);
    owner.close();
    var to = export.address();
    long refused = RegionLoans.ask(name(to), to.lease(), to.secret(), false);
    assertThat(NativeStatus.of(refused)).isEqualTo(NativeStatus.PEER_LOST);
  }

  private static byte[] name(RegionAddress to) {
    return requireNonNull(to.sharing()).name().getBytes(StandardCharsets.US_ASCII);
  }

  /** A region must not be read while another process can still write it. */
  @Test
  void aRegionThatABorrowerKeepsIsGivenUp() {
    var export = owner.export(target, LEASE);
    var to = export.address();
    long loan = RegionLoans.ask(name(to), to.lease(), to.secret(), false);
    long kept = RegionLoans.await(loan, SIZE, Duration.ofSeconds(20).toNanos());
    RegionLoans.closeLoan(loan);
    try (var _ = ((NativeHostMemory) memory).added(kept, SIZE)) {
      export.close();
      assertThatIllegalStateException().isThrownBy(() -> bytes(target));
    }
  }

  @Test
  void whereNoMemoryCanBeSharedTcpIsTaken() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      var to = export.address();
      var sharing = requireNonNull(to.sharing());
      write(SIZE, to.sharedBy(new MemorySharing("another host", sharing.name())));
      write(SIZE, to.sharedBy(new MemorySharing(sharing.boot(), "nobody")));
      write(SIZE, to.sharedBy(new MemorySharing(sharing.boot(), "x".repeat(100))));
      write(SIZE, to.sharedBy(new MemorySharing(sharing.boot(), "")));
    }
    assertThat(bytes(target)).isEqualTo(data);
    var ordinary = memory.allocate(SIZE);
    try (var export = owner.export(ordinary, LEASE)) {
      assertThat(export.address().sharing()).isNull();
      write(SIZE, export.address());
    }
    assertThat(bytes(ordinary)).isEqualTo(data);
    awaitWritten("tcp", 5L * SIZE);
    assertThat(written("shm")).isZero();
  }

  @Test
  void plainJavaTakesTcp() throws Exception {
    try (var java = new JavaHostMemory();
        var export = owner.export(target, LEASE);
        var plain = exchange(java, Thread.ofPlatform().daemon().factory())) {
      var from = java.allocateShared(SIZE);
      from.write(0, ByteBuffer.wrap(data));
      assertThat(plain.write(from, SIZE, export.address(), soon()).await(soon())).isEqualTo(SIZE);
      try (var lent = plain.export(from, LEASE)) {
        assertThat(lent.address().sharing()).isNull();
      }
    }
    assertThat(bytes(target)).isEqualTo(data);
    awaitWritten("tcp", SIZE);
  }
}
