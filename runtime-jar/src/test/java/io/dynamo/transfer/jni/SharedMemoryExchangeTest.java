package io.dynamo.transfer.jni;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.event.Until;
import io.dynamo.json.JsonObject;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.RegionLoans;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.TestSettings;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.MemorySharing;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.tcp.TcpRegionExchange;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests two exchanges of one process, by the memory that they share and by TCP. */
class SharedMemoryExchangeTest {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final int SIZE = (3 << 20) + 77;

  private final EventLoops loops = new EventLoops(2);
  private final NativeHostMemory memory = new NativeHostMemory();
  private final Metrics metrics = new Metrics();
  private final SharedMemoryExchange owner = exchange(memory);
  private final SharedMemoryExchange writer = exchange(memory);
  private final Region source = memory.allocate(SIZE);
  private final Region target = memory.allocateShared(SIZE);
  private final byte[] data = new byte[SIZE];

  SharedMemoryExchangeTest() {
    new Random(6).nextBytes(data);
    source.write(0, ByteBuffer.wrap(data));
  }

  private SharedMemoryExchange exchange(HostMemory over) {
    var settings = TestSettings.defaults();
    return new SharedMemoryExchange(
        new TcpRegionExchange(settings.tcp(), settings.transfer(), loops), over, metrics);
  }

  @AfterEach
  void close() {
    writer.close();
    owner.close();
    loops.close();
    memory.close();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  private static byte[] bytes(Region region) {
    var all = ByteBuffer.allocate((int) region.byteSize());
    region.read(0, all);
    return all.array();
  }

  private long write(long byteSize, RegionAddress to) throws InterruptedException {
    return writer.write(source, byteSize, to, soon()).await(soon());
  }

  /** Waits for the counter, which follows the end of a transfer. */
  private void awaitWritten(String path, long bytes) {
    Until.holds(() -> written(path) >= bytes);
    assertThat(written(path)).isEqualTo(bytes);
  }

  private long written(String path) {
    return metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", path)).value();
  }

  private void fails(Reason reason, RegionAddress to) {
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> write(SIZE, to))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(reason));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4096, SIZE - 1, SIZE})
  void theBytesArriveBySharedMemoryAndNoOthers(int length) throws Exception {
    try (var export = owner.export(target, LEASE)) {
      assertThat(write(length, export.address())).isEqualTo(length);
    }
    var expected = new byte[SIZE];
    System.arraycopy(data, 0, expected, 0, length);
    assertThat(bytes(target)).isEqualTo(expected);
    awaitWritten("shm", length);
    assertThat(written("tcp")).isZero();
  }

  @Test
  void theAddressSurvivesItsMessage() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      var address = export.address();
      assertThat(address.sharing()).isNotNull();
      var received = RegionAddress.of(JsonObject.of(address.toMembers()));
      assertThat(write(SIZE, received)).isEqualTo(SIZE);
      var older = new LinkedHashMap<String, @Nullable Object>(address.toMembers());
      older.remove("shm");
      assertThat(RegionAddress.of(JsonObject.of(older)).sharing()).isNull();
    }
    awaitWritten("shm", SIZE);
  }

  @Test
  void aRegionStaysUsableAfterItsLease() throws Exception {
    var export = owner.export(target, LEASE);
    write(SIZE, export.address());
    try (var arena = Arena.ofConfined()) {
      var view = target.view(arena);
      export.close();
      export.close();
      assertThat(view.get(ValueLayout.JAVA_BYTE, 5)).isEqualTo(data[5]);
      assertThat(bytes(target)).isEqualTo(data);
      target.write(5, ByteBuffer.wrap(new byte[] {99}));
      assertThat(view.get(ValueLayout.JAVA_BYTE, 5)).isEqualTo((byte) 99);
    }
    fails(Reason.STALE, export.address());
    assertThat(bytes(target)[6]).isEqualTo(data[6]);
  }

  /** A region must not be read while another process can still write it. */
  @Test
  void aRegionThatABorrowerKeepsIsGivenUp() {
    var export = owner.export(target, LEASE);
    var to = export.address();
    var name = requireNonNull(to.sharing()).name().getBytes(StandardCharsets.US_ASCII);
    long loan = RegionLoans.ask(name, to.lease(), to.secret());
    long kept = RegionLoans.await(loan, SIZE, Duration.ofSeconds(20).toNanos());
    RegionLoans.closeLoan(loan);
    try (var _ = memory.added(kept, SIZE)) {
      export.close();
      assertThatIllegalStateException().isThrownBy(() -> bytes(target));
    }
  }

  @Test
  void manyWritesGoOnAtOnce() throws Exception {
    record Run(Region region, Transfer transfer) {}
    var runs = new ArrayList<Run>();
    for (int i = 0; i < 24; i++) { // more than there are threads: the others take TCP
      var region = memory.allocateShared(SIZE);
      var export = owner.export(region, LEASE);
      runs.add(new Run(region, writer.write(source, SIZE, export.address(), soon())));
    }
    for (var one : runs) {
      assertThat(one.transfer.await(soon())).isEqualTo(SIZE);
      assertThat(bytes(one.region)).isEqualTo(data);
    }
    Until.holds(() -> written("shm") + written("tcp") == 24L * SIZE);
    assertThat(written("shm")).isPositive();
  }

  @Test
  void whoDoesNotKnowTheSecretWritesNothing() {
    try (var export = owner.export(target, LEASE)) {
      var to = export.address();
      var secret = to.secret().clone();
      secret[5] ^= 1;
      fails(
          Reason.UNAUTHENTICATED,
          new RegionAddress(to.host(), to.port(), to.lease(), secret, to.byteSize(), to.sharing()));
    }
    assertThat(bytes(target)).containsOnly(0);
  }

  @Test
  void aLeaseThatIsOverTakesNothing() {
    fails(Reason.STALE, owner.export(target, Duration.ofNanos(1)).address());
    var closed = memory.allocateShared(SIZE);
    var export = owner.export(closed, LEASE);
    closed.close();
    fails(Reason.STALE, export.address());
    export.close();
    assertThat(bytes(target)).containsOnly(0);
  }

  @Test
  void anAddressOfAnotherSizeIsRefused() {
    try (var export = owner.export(target, LEASE)) {
      var to = export.address();
      fails(
          Reason.RANGE,
          new RegionAddress(to.host(), to.port(), to.lease(), to.secret(), SIZE + 1, to.sharing()));
      assertThatThrownBy(() -> writer.write(source, SIZE + 1, to, soon()))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(bytes(target)).containsOnly(0);
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
        var plain = exchange(java)) {
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

  @Test
  void aClosedExchangeLendsAndWritesNothing() {
    var export = owner.export(target, LEASE);
    writer.close();
    writer.close();
    assertThatIllegalStateException().isThrownBy(() -> write(SIZE, export.address()));
    owner.close();
    assertThatIllegalStateException().isThrownBy(() -> owner.export(target, LEASE));
    var sharing = requireNonNull(export.address().sharing());
    long refused =
        RegionLoans.ask(
            sharing.name().getBytes(StandardCharsets.US_ASCII),
            export.address().lease(),
            export.address().secret());
    assertThat(NativeStatus.of(refused)).isEqualTo(NativeStatus.PEER_LOST);
    export.close();
  }
}
