package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.BlockMover;
import io.dynamo.transfer.BlockMover.Place;
import io.dynamo.transfer.BlockRegion;
import io.dynamo.transfer.BouncePool;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.DeviceMemory.PinnedUse;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RandomBatch;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Moves that have the fake GPU on one side or both, and those that stop in slots between a disk and
 * another place.
 */
final class DevicePath extends TransferPath {
  private static final int SLOT = 128 << 10;
  private static final int SLOTS = 3;

  private final FakeCuda fake = new FakeCuda(FakeCuda.CUDA_12_8);
  private final NativeHostMemory host = closing(new NativeHostMemory());
  private final NativeDeviceMemory device =
      closing(new NativeDeviceMemory(host, 0, fake.library()));
  private final Place source;
  private final Place target;
  private final @Nullable BlockMover mover; // null for copies in one hop

  private DevicePath(@Nullable Path folder, boolean fromDevice, boolean toDevice) {
    this.source = place(folder, fromDevice);
    this.target = place(folder, toDevice);
    this.mover =
        folder == null
            ? null
            : new BlockMover(
                host,
                device,
                new BouncePool(
                    device.allocatePinned((long) SLOTS * SLOT, PinnedUse.READ_AND_WRITE), SLOT));
  }

  static DevicePath copying(boolean fromDevice, boolean toDevice) {
    return new DevicePath(null, fromDevice, toDevice);
  }

  /** Returns a path whose sides are on a disk, unless they are on the GPU. */
  static DevicePath staged(Path folder, boolean fromDevice, boolean toDevice) {
    return new DevicePath(folder, fromDevice, toDevice);
  }

  private Place place(@Nullable Path folder, boolean onDevice) {
    if (onDevice) {
      return new Place.InRegion(device.allocate(SIZE), 0);
    }
    return folder == null
        ? new Place.InRegion(host.allocate(SIZE), 0)
        : new Place.OnDisk(
            closing(new NativeDiskSpace(host, folder, SIZE, NativeDiskSpace.Options.BEST)), 0);
  }

  @Override
  HostMemory memory() {
    return host;
  }

  @Override
  void fillSource(byte[] data) throws InterruptedException {
    fill(source, data);
  }

  @Override
  void fillTarget(byte[] data) throws InterruptedException {
    fill(target, data);
  }

  private void fill(Place place, byte[] data) throws InterruptedException {
    try (var staging = host.allocate(SIZE)) {
      staging.write(0, ByteBuffer.wrap(data));
      moveAll(new Place.InRegion(staging, 0), place);
    }
  }

  @Override
  byte[] target() throws InterruptedException {
    try (var staging = host.allocate(SIZE)) {
      moveAll(target, new Place.InRegion(staging, 0));
      return bytes(staging);
    }
  }

  private void moveAll(Place from, Place to) throws InterruptedException {
    try (var unused = host.allocate(SLOT)) { // one side is the host's, so there is one hop
      new BlockMover(host, device, new BouncePool(unused, SLOT))
          .move(from, to, SIZE, Priority.ONBOARD, soon())
          .await(soon());
    }
  }

  @Override
  Transfer start(CopyBatch ranges, Deadline deadline) {
    if (mover == null) {
      return device
          .transfers()
          .copy(regionOf(source), regionOf(target), ranges, Priority.ONBOARD, deadline);
    }
    long from = ranges.count() == 0 ? 0 : ranges.sourceOffset(0);
    long to = ranges.count() == 0 ? 0 : ranges.targetOffset(0);
    long length = ranges.count() == 0 ? 0 : ranges.length(0);
    return mover.move(at(source, from), at(target, to), length, Priority.ONBOARD, deadline);
  }

  private static Place at(Place place, long offset) {
    return switch (place) {
      case Place.InRegion in -> new Place.InRegion(in.region(), offset);
      case Place.OnDisk disk -> new Place.OnDisk(disk.space(), offset);
      case Place.AtPeer peer -> new Place.AtPeer(peer.address(), offset);
    };
  }

  private static BlockRegion regionOf(Place place) {
    return ((Place.InRegion) place).region();
  }

  @Override
  void closeSource() {
    close(source);
  }

  @Override
  void closeTarget() {
    close(target);
  }

  private static void close(Place place) {
    switch (place) {
      case Place.InRegion in -> in.region().close();
      case Place.OnDisk disk -> disk.space().close();
      case Place.AtPeer _ -> throw new IllegalArgumentException("no place of this path");
    }
  }

  @Override
  RandomBatch draw(Random random, byte[] from, byte[] to) {
    return mover == null
        ? RandomBatch.scattered(random, from, to)
        : RandomBatch.single(random, from, to, 4096);
  }

  @Override
  long[][] rangesOutside() {
    return mover == null ? CopyPath.scatteredOutside() : DiskPath.alignedOutside();
  }

  @Override
  public void close() throws IOException {
    super.close();
    if (fake.violations() != 0) {
      throw new AssertionError("the driver was misused");
    }
  }
}
