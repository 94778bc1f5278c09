package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.event.Until;
import io.dynamo.metrics.Metrics;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.TestSettings;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFaults;
import io.dynamo.transfer.TransferFaults.Fault;
import io.dynamo.transfer.tcp.TcpRegionExchange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Breaks transfers of every way: each ends once, with an error that says what happened; nothing
 * arrives beside its target, and memory and descriptors come back.
 */
class TransferFaultsTest {
  /** The ways that blocks take. */
  enum Lane {
    JAVA_COPY,
    NATIVE_COPY,
    SHARED_MEMORY,
    NETWORK,
    DISK_WRITE,
    DISK_READ
  }

  private static final int SIZE =
      2 << 20; // of the bytes that are moved; aligned to huge pages, hence for any disk
  private static final int GUARD = 64 << 10; // behind them in the target
  private static final byte UNTOUCHED = 0x5a;

  /** Starts to move {@link #SIZE} bytes of the source. */
  @FunctionalInterface
  private interface Move {
    Transfer start(Deadline deadline);
  }

  @TempDir private Path folder;
  private final TransferFaults faults = new TransferFaults();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final byte[] data = new byte[SIZE];
  private long heldBefore;
  private long descriptorsBefore;

  @BeforeEach
  void count() throws IOException {
    new Random(3).nextBytes(data);
    heldBefore = NativeTransfer.heldBytes();
    descriptorsBefore = descriptors();
  }

  @AfterEach
  void everythingComesBack() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
    faults.close();
    Until.holds(() -> NativeTransfer.heldBytes() <= heldBefore);
    Until.holds(() -> descriptors() <= descriptorsBefore);
  }

  /**
   * Counts sockets, shared memory, files without a name, and descriptors of the kernel's queues.
   */
  private static long descriptors() {
    try (var all = Files.list(Path.of("/proc/self/fd"))) {
      return all.filter(TransferFaultsTest::isOurs).count();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static boolean isOurs(Path descriptor) {
    try {
      var name = Files.readSymbolicLink(descriptor).toString();
      return name.startsWith("socket:")
          || name.startsWith("anon_inode:")
          || name.endsWith("(deleted)");
    } catch (IOException gone) {
      return false;
    }
  }

  /** The two regions of one way, and the transfer between them. */
  private final class Passage {
    private final Lane way;
    private final HostMemory memory;
    private final Region source;
    private final Region target;
    private final Move move;

    Passage(Lane way) throws InterruptedException {
      this.way = way;
      memory = way == Lane.JAVA_COPY ? new JavaHostMemory() : new NativeHostMemory();
      open.push(memory);
      source = memory.allocate(SIZE);
      source.write(0, ByteBuffer.wrap(data));
      target = memory.allocateShared(SIZE + GUARD);
      var untouched = new byte[SIZE + GUARD];
      Arrays.fill(untouched, UNTOUCHED);
      target.write(0, ByteBuffer.wrap(untouched));
      move =
          switch (way) {
            case JAVA_COPY, NATIVE_COPY -> copied(memory, source, target);
            case SHARED_MEMORY, NETWORK -> exchanged(way, memory, source, target);
            case DISK_WRITE, DISK_READ -> onDisk(way, memory, source, target);
          };
    }

    Transfer start(Deadline deadline) {
      return move.start(deadline);
    }

    /** Returns the bytes of the target; those behind it are as they were. */
    byte[] arrived() {
      var all = ByteBuffer.allocate(SIZE + GUARD);
      target.read(0, all);
      assertThat(Arrays.copyOfRange(all.array(), SIZE, SIZE + GUARD)).containsOnly(UNTOUCHED);
      return Arrays.copyOf(all.array(), SIZE);
    }

    void movesWell() throws InterruptedException {
      assertThat(start(soon()).await(soon())).isEqualTo(SIZE);
      if (way != Lane.DISK_WRITE) {
        assertThat(arrived()).isEqualTo(data);
      }
    }
  }

  private Move copied(HostMemory memory, Region source, Region target) {
    var client = faults.over(memory.transfers());
    var whole = new CopyBatch().add(0, 0, SIZE);
    return deadline -> client.copy(source, target, whole, Priority.ONBOARD, deadline);
  }

  private Move exchanged(Lane way, HostMemory memory, Region source, Region target) {
    var loops = new EventLoops(1);
    open.push(loops);
    var owner = exchange(memory, loops);
    open.push(owner);
    var writer = exchange(memory, loops);
    open.push(writer);
    var export = owner.export(target, Duration.ofMinutes(1));
    open.push(export);
    var shared = export.address();
    var to =
        way == Lane.SHARED_MEMORY
            ? shared
            : new RegionAddress(
                shared.host(), shared.port(), shared.lease(), shared.secret(), shared.byteSize());
    var faulty = faults.over(writer, memory);
    return deadline -> faulty.write(source, SIZE, to, deadline);
  }

  private static RegionExchange exchange(HostMemory memory, EventLoops loops) {
    var settings = TestSettings.defaults();
    return new SharedMemoryExchange(
        new TcpRegionExchange(settings.tcp(), settings.transfer(), loops),
        memory,
        new Metrics(),
        Thread.ofPlatform().daemon().factory(),
        SharedMemoryPeer.PATIENT);
  }

  private Move onDisk(Lane way, HostMemory memory, Region source, Region target)
      throws InterruptedException {
    var space =
        new NativeDiskSpace((NativeHostMemory) memory, folder, SIZE, NativeDiskSpace.Options.BEST);
    open.push(space);
    var faulty = faults.over(space, memory);
    if (way == Lane.DISK_WRITE) {
      return deadline -> faulty.write(source, 0, 0, SIZE, deadline);
    }
    space.write(source, 0, 0, SIZE, soon()).await(soon());
    return deadline -> faulty.read(target, 0, 0, SIZE, deadline);
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  @ParameterizedTest
  @EnumSource
  void onlyTheTransferWithTheFaultFails(Lane way) throws Exception {
    faults.at(2, Fault.FAIL);
    var path = new Passage(way);
    path.movesWell();
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> path.start(soon()).await(soon()));
    path.movesWell();
  }

  @ParameterizedTest
  @EnumSource
  void aTransferThatBreaksInTheMiddleLeavesNoForeignBytes(Lane way) throws Exception {
    faults.at(1, Fault.SHORT);
    var path = new Passage(way);
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> path.start(soon()).await(soon()));
    if (way != Lane.DISK_WRITE) {
      var got = path.arrived();
      assertThat(Arrays.copyOf(got, SIZE / 2)).isEqualTo(Arrays.copyOf(data, SIZE / 2));
      assertThat(Arrays.copyOfRange(got, SIZE / 2, SIZE)).containsOnly(UNTOUCHED);
    }
    path.movesWell();
  }

  @ParameterizedTest
  @EnumSource
  void aTransferThatIsLostEndsAtItsDeadlineOrByCancel(Lane way) throws Exception {
    faults.at(1, Fault.DROP).at(2, Fault.DROP);
    var path = new Passage(way);
    var late = Deadline.after(Duration.ofMillis(20));
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> path.start(late).await(soon()))
        .withMessageContaining("deadline of the transfer");
    var given = path.start(soon());
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    assertThat(path.arrived()).containsOnly(UNTOUCHED);
    path.movesWell();
  }

  @ParameterizedTest
  @EnumSource
  void aLateTransferArrivesUnlessItIsGivenUp(Lane way) throws Exception {
    faults.at(1, Fault.DELAY).at(2, Fault.DELAY).lateBy(Duration.ofHours(1));
    var path = new Passage(way);
    var given = path.start(soon());
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    faults.lateBy(Duration.ofMillis(50));
    path.movesWell();
  }

  /** Checksums of blocks are what notices this, and nothing else does. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DISK_WRITE")
  void aDamagedBitShowsInTheChecksum(Lane way) throws Exception {
    faults.at(1, Fault.CORRUPT);
    var path = new Passage(way);
    int good = path.source.crc32c(0, SIZE);
    assertThat(path.start(soon()).await(soon())).isEqualTo(SIZE);
    assertThat(path.target.crc32c(0, SIZE)).isNotEqualTo(good);
    path.movesWell();
    assertThat(path.target.crc32c(0, SIZE)).isEqualTo(good);
  }
}
