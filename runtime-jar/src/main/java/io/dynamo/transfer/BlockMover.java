package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.BlockPlace.Storage;
import io.dynamo.transfer.DeviceMemory.DeviceRegion;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.TransferClient.Priority;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between memory of the host, a GPU, disk space and memory that other processes lend,
 * over the lanes that {@link TransferPlanner} names. Where there are two of them, bytes stop in
 * slots of memory of the host, and both lanes work at once. Safe for concurrent use.
 */
public final class BlockMover {
  /** A place that bytes are moved from or to. */
  public sealed interface Place {
    long offset();

    /** A place in a region. */
    record InRegion(BlockRegion region, long offset) implements Place {}

    /** A place on a disk; a multiple of its alignment. */
    record OnDisk(DiskSpace space, long offset) implements Place {}

    /** A place in a region that another process lends; its lease is for moves to it, or from it. */
    record AtPeer(RegionAddress address, long offset) implements Place {}
  }

  /** Bytes to move from one place to another. */
  public record Move(Place from, Place to, long byteSize) {}

  private final HostMemory host;
  private final @Nullable DeviceMemory device;
  private final @Nullable BouncePool pool;
  private final @Nullable RegionExchange exchange;

  /**
   * @param device a GPU, or null when there is none
   * @param pool slots in memory of the host, pinned when there is a GPU
   */
  public BlockMover(HostMemory host, @Nullable DeviceMemory device, BouncePool pool) {
    this(host, device, pool, null);
  }

  /**
   * @param device a GPU, or null when there is none
   * @param pool slots in memory of the host, pinned when there is a GPU; without it only one lane
   *     is taken
   * @param exchange the way to other processes, or null when there is none
   */
  public BlockMover(
      HostMemory host,
      @Nullable DeviceMemory device,
      @Nullable BouncePool pool,
      @Nullable RegionExchange exchange) {
    this.host = host;
    this.device = device;
    this.pool = pool;
    this.exchange = exchange;
  }

  /**
   * Returns the lanes that this has. Those to other processes of the host and of others count as
   * one: the exchange takes the cheaper one for each write and read.
   */
  public Set<TransferLane> lanes() {
    var lanes = EnumSet.of(TransferLane.COPY, TransferLane.DISK);
    if (device != null) {
      lanes.add(TransferLane.DEVICE_COPY);
    }
    if (exchange != null) {
      lanes.add(TransferLane.NETWORK);
    }
    return lanes;
  }

  /** Returns the way that bytes would take. */
  public TransferPlan plan(Place from, Place to) {
    var bounces = pool == null ? EnumSet.noneOf(Storage.class) : EnumSet.of(pool.storage());
    return TransferPlanner.plan(placeOf(from), placeOf(to), lanes(), bounces);
  }

  /**
   * Starts to move bytes. The transfer ends as those of {@link TransferClient}, {@link DiskSpace}
   * and {@link RegionExchange} do, once nothing of it runs any more. The bytes of a target whose
   * transfer has not completed are not to be used.
   *
   * @throws UnsupportedOperationException when no lane leads there; it names the missing ones
   * @throws BounceMissingException when bytes would have to stop, and there are no slots
   * @throws TransferBusyException when too many transfers run
   * @throws IllegalArgumentException when source and target overlap; none was moved
   * @throws IndexOutOfBoundsException when the bytes leave one of the places; none was moved
   */
  public Transfer move(Place from, Place to, long byteSize, Priority priority, Deadline deadline) {
    requireWithin("source", from, byteSize);
    requireWithin("target", to, byteSize);
    var plan = plan(from, to);
    if (plan instanceof TransferPlan.Staged) { // its pieces are read while others are written
      BatchedMoves.requireUnambiguous(List.of(new Move(from, to, byteSize)));
    }
    return switch (plan) {
      case TransferPlan.Direct direct ->
          direct(direct.lane(), from, to, byteSize, priority, deadline);
      case TransferPlan.Staged staged ->
          StagedTransfer.start(
              slots(from, to, staged),
              byteSize,
              (slot, at, offset, length) ->
                  direct(
                      staged.first(),
                      moved(from, offset),
                      new Place.InRegion(slot, at),
                      length,
                      priority,
                      deadline),
              (slot, at, offset, length) ->
                  direct(
                      staged.second(),
                      new Place.InRegion(slot, at),
                      moved(to, offset),
                      length,
                      priority,
                      deadline),
              deadline);
      case TransferPlan.WithoutBounce missing ->
          throw new BounceMissingException(placeOf(from), placeOf(to), missing);
      case TransferPlan.Unsupported unsupported ->
          throw new UnsupportedOperationException(unsupported.reason());
    };
  }

  /**
   * Starts to move a batch, which ends as a whole: with the bytes of all its moves when each has
   * completed, or with the failure of the first one that fails, once no other one runs any more.
   * Nothing is moved of a batch that is refused. No target of a batch that has failed is to be
   * used, also where its own move has completed.
   *
   * @throws IllegalArgumentException when two targets overlap, or a target and a source
   * @throws UnsupportedOperationException when no lane leads to a target
   * @throws BounceMissingException when bytes would have to stop, and there are no slots
   * @throws IndexOutOfBoundsException when bytes leave one of their places
   */
  public Transfer moveAll(List<Move> moves, Priority priority, Deadline deadline) {
    for (var move : moves) {
      requireWithin("source", move.from, move.byteSize);
      requireWithin("target", move.to, move.byteSize);
      requireWay(move.from, move.to);
    }
    BatchedMoves.requireUnambiguous(moves);
    return BatchedMoves.start(
        moves, move -> move(move.from, move.to, move.byteSize, priority, deadline));
  }

  private void requireWay(Place from, Place to) {
    switch (plan(from, to)) {
      case TransferPlan.Direct _, TransferPlan.Staged _ -> {}
      case TransferPlan.WithoutBounce missing ->
          throw new BounceMissingException(placeOf(from), placeOf(to), missing);
      case TransferPlan.Unsupported unsupported ->
          throw new UnsupportedOperationException(unsupported.reason());
    }
  }

  private BouncePool slots(Place from, Place to, TransferPlan.Staged plan) {
    if (pool == null) {
      throw new BounceMissingException(
          placeOf(from), placeOf(to), new TransferPlan.WithoutBounce(plan.first(), plan.second()));
    }
    return pool;
  }

  private static void requireWithin(String side, Place place, long byteSize) {
    long offset = place.offset();
    long room =
        switch (place) {
          case Place.InRegion in -> in.region.byteSize();
          case Place.OnDisk disk -> disk.space.byteSize();
          case Place.AtPeer peer -> peer.address.byteSize();
        };
    if ((offset | byteSize) < 0 || byteSize > room - offset) {
      throw new IndexOutOfBoundsException(
          "%s offset %d, length %d is not within %d bytes".formatted(side, offset, byteSize, room));
    }
  }

  private Transfer direct(
      TransferLane lane, Place from, Place to, long length, Priority priority, Deadline deadline) {
    if (from instanceof Place.OnDisk disk && to instanceof Place.InRegion in) {
      return disk.space.read(hostRegion(in), in.offset, disk.offset, length, deadline);
    }
    if (to instanceof Place.OnDisk disk && from instanceof Place.InRegion in) {
      return disk.space.write(hostRegion(in), in.offset, disk.offset, length, deadline);
    }
    if (to instanceof Place.AtPeer peer && from instanceof Place.InRegion in && exchange != null) {
      var range = new RegionExchange.Range(in.offset, peer.offset, length);
      return exchange.write(hostRegion(in), range, peer.address, deadline);
    }
    if (from instanceof Place.AtPeer peer && to instanceof Place.InRegion in && exchange != null) {
      var range = new RegionExchange.Range(peer.offset, in.offset, length);
      return exchange.read(peer.address, range, hostRegion(in), deadline);
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
    throw new IllegalStateException("no single lane leads from %s to %s".formatted(from, to));
  }

  private static Region hostRegion(Place.InRegion in) {
    if (in.region instanceof Region region) {
      return region;
    }
    throw new IllegalArgumentException("a disk and other processes take memory of the host");
  }

  private static BlockPlace placeOf(Place place) {
    return switch (place) {
      case Place.OnDisk _ -> BlockPlace.local(Storage.DISK);
      case Place.InRegion(DeviceRegion _, long _) -> BlockPlace.local(Storage.DEVICE);
      case Place.InRegion(Region region, long _) -> BlockPlace.local(BouncePool.storageOf(region));
      case Place.InRegion _ -> BlockPlace.local(Storage.SYSTEM);
      case Place.AtPeer _ -> BlockPlace.remote(Storage.SYSTEM);
    };
  }

  private static Place moved(Place place, long by) {
    return switch (place) {
      case Place.InRegion in -> new Place.InRegion(in.region, Math.addExact(in.offset, by));
      case Place.OnDisk disk -> new Place.OnDisk(disk.space, Math.addExact(disk.offset, by));
      case Place.AtPeer peer -> new Place.AtPeer(peer.address, Math.addExact(peer.offset, by));
    };
  }
}
