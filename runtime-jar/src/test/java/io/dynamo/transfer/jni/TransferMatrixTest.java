package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.ErrorCode;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.BlockMover;
import io.dynamo.transfer.BlockMover.Place;
import io.dynamo.transfer.BlockPlace.Storage;
import io.dynamo.transfer.BounceMissingException;
import io.dynamo.transfer.BouncePool;
import io.dynamo.transfer.DeviceMemory.PinnedUse;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.HostMemory.Residency;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.TransferPlan.Direct;
import io.dynamo.transfer.TransferPlan.Staged;
import io.dynamo.transfer.TransferPlan.Unsupported;
import io.dynamo.transfer.TransferPlan.WithoutBounce;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every row of the table of ways, with bytes: from each place of this process to each other one,
 * and into memory of another exchange and from it, by the lanes and the stop that the row names.
 */
class TransferMatrixTest {
  private static final int SIZE = 1 << 20;
  private static final int SLOT = 128 << 10;
  private static final int SLOTS = 3;
  private static final int GUARD = 4096; // before and behind what is moved
  private static final int MOVED = SIZE - 2 * GUARD;
  private static final long ALIGNED = 2L << 20; // from here on regions begin at a page
  private static final byte UNTOUCHED = 0x5a;

  @SuppressWarnings("NullAway.Init") // opened once
  private static EventLoops loops;

  @TempDir private Path folder;
  private final byte[] data = new byte[SIZE];
  private FakeCuda fake;
  private NativeHostMemory host;
  private NativeDeviceMemory device;
  private NativeDiskSpace sourceDisk;
  private NativeDiskSpace targetDisk;
  private BouncePool pool;
  private long heldBefore;

  @BeforeAll
  static void openLoops() {
    loops = new EventLoops(1);
  }

  @AfterAll
  static void closeLoops() {
    loops.close();
  }

  @BeforeEach
  void open() {
    new Random(5).nextBytes(data);
    heldBefore = TransferPath.heldBytes();
    fake = new FakeCuda(FakeCuda.CUDA_12_8);
    host = new NativeHostMemory();
    device = new NativeDeviceMemory(host, 0, fake.library());
    sourceDisk = new NativeDiskSpace(host, folder, SIZE, NativeDiskSpace.Options.BEST);
    targetDisk = new NativeDiskSpace(host, folder, SIZE, NativeDiskSpace.Options.BEST);
    pool = BouncePool.allocate(host, device, SLOTS, SLOT);
  }

  @AfterEach
  void close() {
    if (fake == null || device == null) {
      return;
    }
    pool.close();
    targetDisk.close();
    sourceDisk.close();
    device.close();
    host.close();
    assertThat(fake.violations()).isZero();
    assertThat(TransferPath.heldBytes()).isEqualTo(heldBefore);
  }

  private static Deadline soon() {
    return TransferPath.soon();
  }

  private Place place(String name, boolean isSource) {
    return switch (name) {
      case "SYSTEM" -> new Place.InRegion(host.allocate(ALIGNED), GUARD);
      case "PINNED_SOFT" -> new Place.InRegion(soft(), GUARD);
      case "PINNED" ->
          new Place.InRegion(device.allocatePinned(SIZE, PinnedUse.READ_AND_WRITE), GUARD);
      case "DEVICE" -> new Place.InRegion(device.allocate(SIZE), GUARD);
      case "DISK" -> new Place.OnDisk(isSource ? sourceDisk : targetDisk, GUARD);
      default -> throw new IllegalArgumentException(name);
    };
  }

  private Region soft() {
    var region = host.allocatePinned(SIZE);
    assumeThat(region.residency()).isEqualTo(Residency.PINNED_SOFT);
    return region;
  }

  private static Place whole(Place place) {
    return switch (place) {
      case Place.InRegion in -> new Place.InRegion(in.region(), 0);
      case Place.OnDisk disk -> new Place.OnDisk(disk.space(), 0);
      case Place.AtPeer peer -> new Place.AtPeer(peer.address(), 0);
    };
  }

  private BlockMover mover() {
    return new BlockMover(host, device, pool);
  }

  private void fill(Place place, byte[] bytes) throws InterruptedException {
    var staging = host.allocate(ALIGNED);
    staging.write(0, ByteBuffer.wrap(bytes));
    move(mover(), new Place.InRegion(staging, 0), whole(place), SIZE);
    staging.close();
  }

  private byte[] bytes(Place place) throws InterruptedException {
    var staging = host.allocate(ALIGNED);
    move(mover(), whole(place), new Place.InRegion(staging, 0), SIZE);
    var all = new byte[SIZE];
    staging.read(0, ByteBuffer.wrap(all));
    staging.close();
    return all;
  }

  private static void move(BlockMover mover, Place from, Place to, int length)
      throws InterruptedException {
    assertThat(mover.move(from, to, length, Priority.ONBOARD, soon()).await(soon()))
        .isEqualTo(length);
  }

  private static byte[] untouched() {
    return SharedMemoryPeer.filled(SIZE, UNTOUCHED);
  }

  private byte[] expected() {
    var expected = untouched();
    System.arraycopy(data, GUARD, expected, GUARD, MOVED);
    return expected;
  }

  private static String planned(BlockMover mover, Place from, Place to) {
    return switch (mover.plan(from, to)) {
      case Direct(var lane) -> lane.label();
      case Staged(var first, var second, var bounce) ->
          "%s %s %s".formatted(first.label(), bounce, second.label());
      case WithoutBounce(var first, var second) ->
          "%s ? %s".formatted(first.label(), second.label());
      case Unsupported(var reason) -> reason;
    };
  }

  @ParameterizedTest
  @CsvSource({
    "SYSTEM, SYSTEM, mem",
    "SYSTEM, PINNED_SOFT, mem",
    "SYSTEM, PINNED, mem",
    "SYSTEM, DEVICE, cuda",
    "SYSTEM, DISK, disk",
    "PINNED_SOFT, SYSTEM, mem",
    "PINNED_SOFT, PINNED_SOFT, mem",
    "PINNED_SOFT, PINNED, mem",
    "PINNED_SOFT, DEVICE, cuda",
    "PINNED_SOFT, DISK, disk",
    "PINNED, SYSTEM, mem",
    "PINNED, PINNED_SOFT, mem",
    "PINNED, PINNED, mem",
    "PINNED, DEVICE, cuda",
    "PINNED, DISK, disk",
    "DEVICE, SYSTEM, cuda",
    "DEVICE, PINNED_SOFT, cuda",
    "DEVICE, PINNED, cuda",
    "DEVICE, DEVICE, cuda",
    "DEVICE, DISK, cuda PINNED disk",
    "DISK, SYSTEM, disk",
    "DISK, PINNED_SOFT, disk",
    "DISK, PINNED, disk",
    "DISK, DEVICE, disk PINNED cuda",
    "DISK, DISK, disk PINNED disk"
  })
  void rowsWithinTheProcess(String from, String to, String way) throws Exception {
    var source = place(from, true);
    var target = place(to, false);
    fill(source, data);
    fill(target, untouched());
    assertThat(planned(mover(), source, target)).isEqualTo(way);
    move(mover(), source, target, MOVED);
    assertThat(bytes(target)).isEqualTo(expected());
    assertThat(pool.idle()).isEqualTo(SLOTS);
    var bare = new BlockMover(host, device, null, null);
    if (way.contains(" ")) {
      assertThat(planned(bare, source, target)).isEqualTo(way.replace("PINNED", "?"));
      assertThatExceptionOfType(BounceMissingException.class)
          .isThrownBy(() -> bare.move(source, target, MOVED, Priority.ONBOARD, soon()))
          .withMessageContaining("bytes stop between " + way.replace("PINNED", "and"))
          .satisfies(missing -> assertThat(missing.code()).isEqualTo(ErrorCode.UNAVAILABLE));
    } else {
      move(bare, source, target, MOVED);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SYSTEM, true, tcp",
    "SYSTEM, false, tcp",
    "PINNED_SOFT, true, tcp",
    "PINNED_SOFT, false, tcp",
    "PINNED, true, tcp",
    "PINNED, false, tcp",
    "DEVICE, true, cuda PINNED tcp",
    "DEVICE, false, cuda PINNED tcp",
    "DISK, true, disk PINNED tcp",
    "DISK, false, disk PINNED tcp"
  })
  void rowsToAnotherProcess(String from, boolean isShared, String way) throws Exception {
    var source = place(from, true);
    fill(source, data);
    var lent = host.allocateShared(SIZE);
    lent.write(0, ByteBuffer.wrap(untouched()));
    try (var writer = ExchangePath.exchange(host, loops);
        var owner = ExchangePath.exchange(host, loops);
        var export = owner.export(lent, Duration.ofMinutes(5))) {
      var mover = new BlockMover(host, device, pool, writer);
      var to = export.address();
      var address =
          isShared
              ? to
              : new RegionAddress(to.host(), to.port(), to.lease(), to.secret(), to.byteSize());
      var target = new Place.AtPeer(address, GUARD);
      assertThat(planned(mover, source, target)).isEqualTo(way);
      move(mover, source, target, MOVED);
      assertThat(TransferPath.bytes(lent)).isEqualTo(expected());
      assertThat(pool.idle()).isEqualTo(SLOTS);
      assertThat(planned(mover, target, target)).contains("between two other processes");
      var alone = new BlockMover(host, device, pool);
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> alone.move(source, target, MOVED, Priority.ONBOARD, soon()))
          .withMessageContaining("needs");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SYSTEM, true, tcp",
    "SYSTEM, false, tcp",
    "PINNED_SOFT, true, tcp",
    "PINNED_SOFT, false, tcp",
    "PINNED, true, tcp",
    "PINNED, false, tcp",
    "DEVICE, true, tcp PINNED cuda",
    "DEVICE, false, tcp PINNED cuda",
    "DISK, true, tcp PINNED disk",
    "DISK, false, tcp PINNED disk"
  })
  void rowsFromAnotherProcess(String to, boolean isShared, String way) throws Exception {
    var target = place(to, false);
    fill(target, untouched());
    var lent = host.allocateShared(SIZE);
    lent.write(0, ByteBuffer.wrap(data));
    try (var reader = ExchangePath.exchange(host, loops);
        var owner = ExchangePath.exchange(host, loops);
        var export = owner.export(lent, Permission.READ, Duration.ofMinutes(5))) {
      var mover = new BlockMover(host, device, pool, reader);
      var from = export.address();
      var address =
          isShared
              ? from
              : new RegionAddress(
                  from.host(),
                  from.port(),
                  from.lease(),
                  from.secret(),
                  from.byteSize(),
                  Permission.READ);
      var source = new Place.AtPeer(address, GUARD);
      assertThat(planned(mover, source, target)).isEqualTo(way);
      move(mover, source, target, MOVED);
      assertThat(bytes(target)).isEqualTo(expected());
      assertThat(pool.idle()).isEqualTo(SLOTS);
      assertThatExceptionOfType(TransferFailedException.class)
          .isThrownBy(() -> move(mover, target, source, MOVED))
          .satisfies(denied -> assertThat(denied.reason()).isEqualTo(Reason.DENIED));
      assertThat(pool.idle()).isEqualTo(SLOTS);
      assertThat(TransferPath.bytes(lent)).isEqualTo(data);
      var alone = new BlockMover(host, device, pool);
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> alone.move(source, target, MOVED, Priority.ONBOARD, soon()))
          .withMessageContaining("needs");
    }
  }

  /** Without a GPU bytes stop in memory that the kernel has locked, or in any other. */
  @Test
  void thePoolOfAHostWithoutAGpuIsLockedWhereTheKernelAllowsIt() throws Exception {
    var source = place("DISK", true);
    var target = place("DISK", false);
    fill(source, data);
    fill(target, untouched());
    try (var locked = BouncePool.allocate(host, null, SLOTS, SLOT);
        var pageable = new BouncePool(host.allocate(ALIGNED), SLOT)) {
      var soft = new BlockMover(host, null, locked);
      assertThat(planned(soft, source, target)).isEqualTo("disk " + locked.storage() + " disk");
      move(soft, source, target, MOVED);
      assertThat(bytes(target)).isEqualTo(expected());
      assertThat(locked.idle()).isEqualTo(SLOTS);
      assertThat(pageable.storage()).isEqualTo(Storage.SYSTEM);
      var plain = new BlockMover(host, null, pageable);
      assertThat(planned(plain, source, target)).isEqualTo("disk SYSTEM disk");
      move(plain, source, target, MOVED);
      assertThat(bytes(target)).isEqualTo(expected());
    }
  }

  @Test
  void aPoolThatIsClosedEndsMovesThatStopThere() throws Exception {
    var source = place("DISK", true);
    var target = place("DISK", false);
    var closed = BouncePool.allocate(host, null, SLOTS, SLOT);
    closed.close();
    closed.close();
    var mover = new BlockMover(host, null, closed);
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(() -> mover.move(source, target, MOVED, Priority.ONBOARD, soon()).await(soon()))
        .withMessageContaining("closed");
    assertThat(closed.idle()).isEqualTo(SLOTS);
  }
}
