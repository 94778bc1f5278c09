package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.event.Until;
import io.dynamo.transfer.BlockMover;
import io.dynamo.transfer.BlockMover.Place;
import io.dynamo.transfer.BouncePool;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.DeviceLostException;
import io.dynamo.transfer.DeviceMemory.PinnedUse;
import io.dynamo.transfer.DiskFailedException;
import io.dynamo.transfer.DiskFailedException.Problem;
import io.dynamo.transfer.DiskSpace;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.TransferLane;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Moves between a fake GPU, a disk and memory of the host. */
class BlockMoverTest {
  private static final int SIZE = 1 << 20;
  private static final int SLOT = 1 << 16;
  private static final long ALIGNED = 2L << 20; // from here on regions begin at a page

  @TempDir private Path folder;
  private FakeCuda fake;
  private NativeHostMemory host;
  private NativeDeviceMemory device;
  private NativeDiskSpace disk;

  @BeforeEach
  void open() {
    fake = new FakeCuda(FakeCuda.CUDA_12_8);
    host = new NativeHostMemory();
    device = new NativeDeviceMemory(host, 0, fake.library());
    disk = new NativeDiskSpace(host, folder, 2L * SIZE, NativeDiskSpace.Options.BEST);
  }

  @AfterEach
  void close() {
    if (fake == null || device == null) {
      return;
    }
    fake.allow(-1);
    disk.close();
    device.close();
    host.close();
    assertThat(fake.violations()).isZero();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(60));
  }

  private BouncePool pool(int slots) {
    return new BouncePool(
        device.allocatePinned((long) slots * SLOT, PinnedUse.READ_AND_WRITE), SLOT);
  }

  private Place place(String storage) {
    return switch (storage) {
      case "host" -> new Place.InRegion(host.allocate(ALIGNED), 0);
      case "device" -> new Place.InRegion(device.allocate(SIZE), 0);
      case "disk" -> new Place.OnDisk(disk, 0);
      case "disk2" -> new Place.OnDisk(disk, SIZE);
      default -> throw new IllegalArgumentException(storage);
    };
  }

  private Region data(long seed) {
    var data = new byte[SIZE];
    new Random(seed).nextBytes(data);
    var region = host.allocate(ALIGNED);
    region.write(0, ByteBuffer.wrap(data));
    return region;
  }

  /** From the host to the first place, on to the second and back, with different pools. */
  @ParameterizedTest
  @CsvSource({
    "device, disk, 1",
    "device, disk, 2",
    "device, disk, 4",
    "disk, device, 3",
    "disk, disk2, 2",
    "device, device, 2",
    "host, device, 1",
    "disk, host, 1",
    "host, host, 1"
  })
  void bytesArriveOverAllLanes(String first, String second, int slots) throws Exception {
    var pool = pool(slots);
    var mover = new BlockMover(host, device, pool);
    assertThat(mover.lanes())
        .containsExactly(TransferLane.COPY, TransferLane.DISK, TransferLane.DEVICE_COPY);
    var original = data(first.hashCode() + slots);
    var back = host.allocate(ALIGNED);
    var from = place(first);
    var to = place(second);
    move(mover, new Place.InRegion(original, 0), from).await(soon());
    assertThat(move(mover, from, to).await(soon())).isEqualTo(SIZE);
    move(mover, to, new Place.InRegion(back, 0)).await(soon());
    assertThat(back.crc32c(0, SIZE)).isEqualTo(original.crc32c(0, SIZE));
    assertThat(pool.idle()).isEqualTo(slots);
  }

  private static Transfer move(BlockMover mover, Place from, Place to) {
    return mover.move(from, to, SIZE, Priority.ONBOARD, soon());
  }

  @Test
  void manyMovesShareThePool() throws Exception {
    var pool = pool(2);
    var mover = new BlockMover(host, device, pool);
    var original = data(1);
    var source = device.allocate(SIZE);
    device
        .transfers()
        .copy(original, source, new CopyBatch().add(0, 0, SIZE), Priority.ONBOARD, soon())
        .await(soon());
    var moves = new ArrayList<Transfer>();
    for (int i = 0; i < 8; i++) {
      long at = (long) i * (SIZE / 8);
      moves.add(
          mover.move(
              new Place.InRegion(source, at),
              new Place.OnDisk(disk, at),
              SIZE / 8,
              Priority.OFFLOAD,
              soon()));
    }
    for (var one : moves) {
      assertThat(one.await(soon())).isEqualTo(SIZE / 8);
    }
    var back = host.allocate(ALIGNED);
    disk.read(back, 0, 0, SIZE, soon()).await(soon());
    assertThat(back.crc32c(0, SIZE)).isEqualTo(original.crc32c(0, SIZE));
    assertThat(pool.idle()).isEqualTo(2);
  }

  @Test
  void aCancelledMoveGivesItsSlotsBack() throws Exception {
    var pool = pool(2);
    var mover = new BlockMover(host, device, pool);
    var source = device.allocate(SIZE);
    fake.allow(0);
    long before = fake.calls("cuMemcpyAsync");
    var running = move(mover, new Place.InRegion(source, 0), new Place.OnDisk(disk, 0));
    var waiting = move(mover, new Place.InRegion(source, 0), new Place.OnDisk(disk, SIZE));
    Until.holds(() -> fake.calls("cuMemcpyAsync") == before + 2);
    waiting.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> waiting.await(soon()));
    running.cancel();
    assertThat(pool.idle()).isZero(); // the GPU has them still
    fake.allow(-1);
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> running.await(soon()));
    assertThat(pool.idle()).isEqualTo(2);
  }

  @Test
  void aLostGpuEndsItsMovesAndLeavesThePool() {
    var pool = pool(3);
    var mover = new BlockMover(host, device, pool);
    var source = device.allocate(SIZE);
    fake.failWork(2, 700);
    var running = move(mover, new Place.InRegion(source, 0), new Place.OnDisk(disk, 0));
    assertThatExceptionOfType(DeviceLostException.class).isThrownBy(() -> running.await(soon()));
    assertThat(pool.idle()).isEqualTo(3);
  }

  private NativeDiskSpace faulty(NativeFaults faults) {
    return new NativeDiskSpace(host, folder, SIZE, NativeDiskSpace.Options.BEST, faults);
  }

  /** Any of the 16 pieces fails, in the first hop or in the second one. */
  @ParameterizedTest
  @CsvSource({"1, true", "1, false", "2, true", "9, false", "16, true", "16, false"})
  void aHopThatFailsEndsItsMoveAndGivesTheSlotsBack(int piece, boolean isFirst) throws Exception {
    var pool = pool(3);
    var mover = new BlockMover(host, device, pool);
    try (var full = faulty(NativeFaults.NONE.fail(piece, 28))) {
      var broken = new Place.OnDisk(full, 0);
      var well = new Place.OnDisk(disk, 0);
      var running = isFirst ? move(mover, broken, well) : move(mover, well, broken);
      assertThatExceptionOfType(DiskFailedException.class)
          .isThrownBy(() -> running.await(soon()))
          .satisfies(failure -> assertThat(failure.problem()).isEqualTo(Problem.FULL));
      assertThat(pool.idle()).isEqualTo(3);
      assertThat(move(mover, well, broken).await(soon())).isEqualTo(SIZE);
    }
  }

  /** One piece never ends: the deadline of its hop ends the whole move. */
  @ParameterizedTest
  @CsvSource({"1, true", "2, false", "16, true"})
  void aHopThatIsLostEndsItsMoveAtTheDeadlineOrByCancel(int piece, boolean isFirst)
      throws Exception {
    var pool = pool(3);
    var mover = new BlockMover(host, device, pool);
    try (var lossy = faulty(NativeFaults.NONE.drop(piece).drop(piece + 16))) {
      var lost = new Place.OnDisk(lossy, 0);
      var well = new Place.OnDisk(disk, 0);
      var from = isFirst ? lost : well;
      var to = isFirst ? well : lost;
      var late =
          mover.move(from, to, SIZE, Priority.ONBOARD, Deadline.after(Duration.ofMillis(500)));
      assertThatExceptionOfType(DeadlineExceededException.class)
          .isThrownBy(() -> late.await(soon()));
      assertThat(pool.idle()).isEqualTo(3);
      var given = move(mover, from, to);
      given.cancel();
      assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
      assertThat(pool.idle()).isEqualTo(3);
    }
  }

  /** The first pieces would be written over what later ones read. */
  @Test
  void overlappingRangesOfOneDiskAreRefused() {
    var mover = new BlockMover(host, null, new BouncePool(host.allocate(SLOT), SLOT));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                mover.move(
                    new Place.OnDisk(disk, 0),
                    new Place.OnDisk(disk, SLOT),
                    2 * SLOT,
                    Priority.ONBOARD,
                    soon()))
        .withMessageContaining("target of a move");
  }

  @Test
  void waysThatAreMissingAreNamed() {
    var mover = new BlockMover(host, null, new BouncePool(host.allocate(SLOT), SLOT));
    var source = new Place.InRegion(device.allocate(SIZE), 0);
    DiskSpace space = disk;
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> move(mover, source, new Place.OnDisk(space, 0)))
        .withMessage("from device to disk needs gds, or cuda");
    assertThatIllegalArgumentException().isThrownBy(() -> new BouncePool(host.allocate(1), SLOT));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(
            () ->
                new BlockMover(host, device, pool(1))
                    .move(
                        source, new Place.OnDisk(space, 2L * SIZE), SIZE, Priority.ONBOARD, soon())
                    .await(soon()));
  }
}
