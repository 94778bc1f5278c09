package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.BlockPlace.Storage;
import io.dynamo.transfer.DeviceMemory.DeviceRegion;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.TransferClient.Priority;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between memory of the host, a GPU and disk space over the lanes that {@link
 * TransferPlanner} names. Between a GPU and a disk, and from one disk to another, bytes stop in
 * slots of pinned memory, where both lanes work at once. Safe for concurrent use.
 */
public final class BlockMover {
  /** A place that bytes are moved from or to. */
  public sealed interface Place {
    /** A place in a region. */
    record InRegion(BlockRegion region, long offset) implements Place {}

    /** A place on a disk; a multiple of its alignment. */
    record OnDisk(DiskSpace space, long offset) implements Place {}
  }

  private final HostMemory host;
  private final @Nullable DeviceMemory device;
  private final BouncePool pool;

  /**
   * @param device a GPU, or null when there is none
   * @param pool slots in memory of the host, pinned when there is a GPU
   */
  public BlockMover(HostMemory host, @Nullable DeviceMemory device, BouncePool pool) {
    this.host = host;
    this.device = device;
    this.pool = pool;
  }

  /** Returns the lanes that this has. */
  public Set<TransferLane> lanes() {
    var lanes = EnumSet.of(TransferLane.COPY, TransferLane.DISK);
    if (device != null) {
      lanes.add(TransferLane.DEVICE_COPY);
    }
    return lanes;
  }

  /**
   * Starts to move bytes. The transfer ends as those of {@link TransferClient} and {@link
   * DiskSpace} do, once nothing of it runs any more.
   *
   * @throws UnsupportedOperationException when no lane leads there; it names the missing ones
   * @throws TransferBusyException when too many transfers run
   * @throws IndexOutOfBoundsException when the bytes leave one of the places; none was moved
   */
  public Transfer move(Place from, Place to, long byteSize, Priority priority, Deadline deadline) {
    requireWithin("source", from, byteSize);
    requireWithin("target", to, byteSize);
    return switch (TransferPlanner.plan(placeOf(from), placeOf(to), lanes())) {
      case TransferPlan.Direct direct ->
          direct(direct.lane(), from, to, byteSize, priority, deadline);
      case TransferPlan.Staged _ ->
          StagedTransfer.start(
              pool,
              byteSize,
              (slot, at, offset, length) ->
                  hop(
                      moved(from, offset),
                      new Place.InRegion(slot, at),
                      length,
                      priority,
                      deadline),
              (slot, at, offset, length) ->
                  hop(new Place.InRegion(slot, at), moved(to, offset), length, priority, deadline));
      case TransferPlan.Unsupported unsupported ->
          throw new UnsupportedOperationException(unsupported.reason());
    };
  }

  private static void requireWithin(String side, Place place, long byteSize) {
    long offset =
        switch (place) {
          case Place.InRegion in -> in.offset;
          case Place.OnDisk disk -> disk.offset;
        };
    long room =
        switch (place) {
          case Place.InRegion in -> in.region.byteSize();
          case Place.OnDisk disk -> disk.space.byteSize();
        };
    if ((offset | byteSize) < 0 || byteSize > room - offset) {
      throw new IndexOutOfBoundsException(
          "%s offset %d, length %d is not within %d bytes".formatted(side, offset, byteSize, room));
    }
  }

  private Transfer hop(Place from, Place to, long length, Priority priority, Deadline deadline) {
    boolean onDevice = isOnDevice(from) || isOnDevice(to);
    boolean onDisk = from instanceof Place.OnDisk || to instanceof Place.OnDisk;
    var lane = onDisk ? TransferLane.DISK : onDevice ? TransferLane.DEVICE_COPY : TransferLane.COPY;
    return direct(lane, from, to, length, priority, deadline);
  }

  private Transfer direct(
      TransferLane lane, Place from, Place to, long length, Priority priority, Deadline deadline) {
    if (from instanceof Place.OnDisk disk && to instanceof Place.InRegion in) {
      return disk.space.read(hostRegion(in), in.offset, disk.offset, length, deadline);
    }
    if (to instanceof Place.OnDisk disk && from instanceof Place.InRegion in) {
      return disk.space.write(hostRegion(in), in.offset, disk.offset, length, deadline);
    }
    if (from instanceof Place.InRegion source && to instanceof Place.InRegion target) {
      var client =
          lane == TransferLane.DEVICE_COPY && device != null
              ? device.transfers()
              : host.transfers();
      return client.copy(
          source.region,
          target.region,
          new CopyBatch().add(source.offset, target.offset, length),
          priority,
          deadline);
    }
    throw new IllegalStateException("two disks are no single lane");
  }

  private static Region hostRegion(Place.InRegion in) {
    if (in.region instanceof Region region) {
      return region;
    }
    throw new IllegalArgumentException("a disk reads and writes memory of the host");
  }

  private static boolean isOnDevice(Place place) {
    return place instanceof Place.InRegion in && in.region instanceof DeviceRegion;
  }

  private static BlockPlace placeOf(Place place) {
    return BlockPlace.local(
        switch (place) {
          case Place.OnDisk _ -> Storage.DISK;
          case Place.InRegion(DeviceRegion _, long _) -> Storage.DEVICE;
          case Place.InRegion(Region region, long _) -> BouncePool.storageOf(region);
          case Place.InRegion _ -> Storage.SYSTEM;
        });
  }

  private static Place moved(Place place, long by) {
    return switch (place) {
      case Place.InRegion in -> new Place.InRegion(in.region, Math.addExact(in.offset, by));
      case Place.OnDisk disk -> new Place.OnDisk(disk.space, Math.addExact(disk.offset, by));
    };
  }
}
