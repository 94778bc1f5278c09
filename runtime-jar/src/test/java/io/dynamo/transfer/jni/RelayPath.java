package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.BlockMover;
import io.dynamo.transfer.BlockMover.Place;
import io.dynamo.transfer.BouncePool;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RandomBatch;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Moves from a disk or the fake GPU into a region that another exchange lends, by shared memory or
 * by TCP; bytes stop in slots of pinned memory.
 */
final class RelayPath extends TransferPath {
  private static final int SLOT = 512 << 10;
  private static final int SLOTS = 3;

  private final @Nullable FakeCuda fake;
  private final NativeHostMemory host = closing(new NativeHostMemory());
  private final @Nullable NativeDeviceMemory device;
  private final Place source;
  private final Region target = host.allocateShared(SIZE);
  private final RegionExchange.Export export;
  private final RegionAddress to;
  private final BlockMover mover;

  private RelayPath(@Nullable Path folder, boolean isShared) {
    this.fake = folder == null ? new FakeCuda(FakeCuda.CUDA_12_8) : null;
    this.device = fake == null ? null : closing(new NativeDeviceMemory(host, 0, fake.library()));
    this.source =
        folder == null
            ? new Place.InRegion(requireDevice().allocate(SIZE), 0)
            : new Place.OnDisk(
                closing(new NativeDiskSpace(host, folder, SIZE, NativeDiskSpace.Options.BEST)), 0);
    var loops = closing(new EventLoops(1));
    var owner = closing(ExchangePath.exchange(host, loops));
    this.export = closing(owner.export(target, Duration.ofMinutes(5)));
    var writer = closing(ExchangePath.exchange(host, loops));
    var lent = export.address();
    this.to =
        isShared
            ? lent
            : new RegionAddress(
                lent.host(), lent.port(), lent.lease(), lent.secret(), lent.byteSize());
    this.mover =
        new BlockMover(
            host, device, closing(BouncePool.allocate(host, device, SLOTS, SLOT)), writer);
  }

  static RelayPath fromDisk(Path folder, boolean isShared) {
    return new RelayPath(folder, isShared);
  }

  static RelayPath fromDevice(boolean isShared) {
    return new RelayPath(null, isShared);
  }

  private NativeDeviceMemory requireDevice() {
    if (device == null) {
      throw new IllegalStateException("this path has no GPU");
    }
    return device;
  }

  @Override
  HostMemory memory() {
    return host;
  }

  @Override
  void fillSource(byte[] data) throws InterruptedException {
    try (var staging = host.allocate(SIZE)) {
      staging.write(0, ByteBuffer.wrap(data));
      mover
          .move(new Place.InRegion(staging, 0), source, SIZE, Priority.ONBOARD, soon())
          .await(soon());
    }
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
    long from = ranges.count() == 0 ? 0 : ranges.sourceOffset(0);
    long at = ranges.count() == 0 ? 0 : ranges.targetOffset(0);
    long length = ranges.count() == 0 ? 0 : ranges.length(0);
    var begin =
        switch (source) {
          case Place.InRegion in -> new Place.InRegion(in.region(), from);
          case Place.OnDisk disk -> new Place.OnDisk(disk.space(), from);
          case Place.AtPeer peer -> peer;
        };
    return mover.move(begin, new Place.AtPeer(to, at), length, Priority.ONBOARD, deadline);
  }

  @Override
  void closeSource() {
    switch (source) {
      case Place.InRegion in -> in.region().close();
      case Place.OnDisk disk -> disk.space().close();
      case Place.AtPeer _ -> throw new IllegalStateException("nobody reads a peer's memory");
    }
  }

  @Override
  void closeTarget() {
    export.close();
  }

  @Override
  RandomBatch draw(Random random, byte[] from, byte[] into) {
    return RandomBatch.single(random, from, into, 4096);
  }

  @Override
  long[][] rangesOutside() {
    return DiskPath.alignedOutside();
  }

  @Override
  public void close() throws IOException {
    super.close();
    if (fake != null && fake.violations() != 0) {
      throw new AssertionError("the driver was misused");
    }
  }
}
