package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.BlockMover;
import io.dynamo.transfer.BlockMover.Move;
import io.dynamo.transfer.BlockMover.Place;
import io.dynamo.transfer.BouncePool;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.jni.TransferPair.Fault;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A source and a target of {@link #SIZE} bytes that a {@link BlockMover} moves between, one lane of
 * which has faults. Used by one test, which closes it.
 */
final class MoverPath implements AutoCloseable {
  static final int SIZE = 1 << 20;
  static final int SLOT = 128 << 10;
  static final int SLOTS = 3;

  /** The pieces that are moved, of one slot each; bytes behind them stay. */
  static final int PIECES = 7;

  static final int MOVED = PIECES * SLOT;

  private static final long ALIGNED = 2L << 20; // from here on regions begin at a page

  /** The ways, and the lane of each that has faults. */
  enum Route {
    COPY,
    DISK_WRITE,
    DISK_READ,
    SHARED_MEMORY,
    NETWORK,
    DISK_THEN_DISK_FAILING_FIRST,
    DISK_THEN_DISK_FAILING_SECOND,
    GPU_THEN_DISK_FAILING_SECOND,
    DISK_THEN_GPU_FAILING_FIRST,
    DISK_THEN_SHARED_MEMORY_FAILING_FIRST,
    DISK_THEN_SHARED_MEMORY_FAILING_SECOND,
    DISK_THEN_NETWORK_FAILING_FIRST,
    DISK_THEN_NETWORK_FAILING_SECOND,
    GPU_THEN_NETWORK_FAILING_SECOND,
    SHARED_MEMORY_THEN_DISK_FAILING_FIRST,
    NETWORK_THEN_DISK_FAILING_FIRST,
    NETWORK_THEN_GPU_FAILING_FIRST;

    boolean hasStop() {
      return name().contains("THEN");
    }

    /** Returns whether the faults are those of a disk. */
    boolean breaksDisk() {
      return switch (this) {
        case DISK_WRITE,
            DISK_READ,
            DISK_THEN_DISK_FAILING_FIRST,
            DISK_THEN_DISK_FAILING_SECOND,
            GPU_THEN_DISK_FAILING_SECOND,
            DISK_THEN_GPU_FAILING_FIRST,
            DISK_THEN_SHARED_MEMORY_FAILING_FIRST,
            DISK_THEN_NETWORK_FAILING_FIRST ->
            true;
        case COPY,
            SHARED_MEMORY,
            NETWORK,
            DISK_THEN_SHARED_MEMORY_FAILING_SECOND,
            DISK_THEN_NETWORK_FAILING_SECOND,
            GPU_THEN_NETWORK_FAILING_SECOND,
            SHARED_MEMORY_THEN_DISK_FAILING_FIRST,
            NETWORK_THEN_DISK_FAILING_FIRST,
            NETWORK_THEN_GPU_FAILING_FIRST ->
            false;
      };
    }

    boolean breaksNetwork() {
      return this == NETWORK
          || this == DISK_THEN_NETWORK_FAILING_SECOND
          || this == GPU_THEN_NETWORK_FAILING_SECOND
          || this == NETWORK_THEN_DISK_FAILING_FIRST
          || this == NETWORK_THEN_GPU_FAILING_FIRST;
    }

    private boolean isToPeer() {
      return this == SHARED_MEMORY
          || this == NETWORK
          || name().contains("THEN_SHARED_MEMORY")
          || name().contains("THEN_NETWORK");
    }

    private boolean isFromPeer() {
      return name().startsWith("SHARED_MEMORY_THEN") || name().startsWith("NETWORK_THEN");
    }

    private boolean breaksCopies() {
      return !breaksDisk() && !breaksNetwork();
    }

    boolean readsBrokenDisk() {
      return breaksDisk() && (this == DISK_READ || name().endsWith("FIRST"));
    }
  }

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final NativeHostMemory host;
  private final @Nullable FakeCuda fake;
  private final @Nullable NativeDeviceMemory device;
  private final BouncePool pool;
  private final BlockMover mover;
  private final Place source;
  private final Place target;
  private final @Nullable Region lent; // the memory of a target at a peer
  private final @Nullable Region read; // the memory of a source at a peer

  MoverPath(Route route, Path folder, Map<Integer, Fault> faults, EventLoops loops) {
    var name = route.name();
    this.host =
        closing(
            new NativeHostMemory(
                route.breaksCopies() ? FaultPlans.of(faults, 0) : NativeFaults.NONE));
    this.fake = name.contains("GPU") ? new FakeCuda(FakeCuda.CUDA_12_8) : null;
    this.device = fake == null ? null : closing(new NativeDeviceMemory(host, 0, fake.library()));
    var diskFaults = route.breaksDisk() ? FaultPlans.ofDisk(faults, 1) : NativeFaults.NONE;
    this.read = route.isFromPeer() ? host.allocateShared(SIZE) : null;
    this.source =
        read != null
            ? atPeer(route, read, Permission.READ, faults, loops)
            : name.startsWith("DISK") && route != Route.DISK_WRITE
                ? disk(folder, route.readsBrokenDisk() ? diskFaults : NativeFaults.NONE)
                : name.startsWith("GPU") && device != null
                    ? new Place.InRegion(device.allocate(SIZE), 0)
                    : new Place.InRegion(host.allocate(ALIGNED), 0);
    this.lent = route.isToPeer() ? host.allocateShared(SIZE) : null;
    if (lent != null) {
      this.target = atPeer(route, lent, Permission.WRITE, faults, loops);
    } else if (route == Route.DISK_WRITE || name.contains("THEN_DISK")) {
      this.target = disk(folder, route.readsBrokenDisk() ? NativeFaults.NONE : diskFaults);
    } else if (name.contains("THEN_GPU") && device != null) {
      this.target = new Place.InRegion(device.allocate(SIZE), 0);
    } else {
      this.target = new Place.InRegion(host.allocate(ALIGNED), 0);
    }
    this.pool = closing(BouncePool.allocate(host, device, SLOTS, SLOT));
    this.mover =
        new BlockMover(
            host, device, pool, loops == null ? null : closing(ExchangePath.exchange(host, loops)));
  }

  private <T extends AutoCloseable> T closing(T one) {
    open.push(one);
    return one;
  }

  private Place disk(Path folder, NativeFaults faults) {
    return new Place.OnDisk(
        closing(new NativeDiskSpace(host, folder, SIZE, NativeDiskSpace.Options.BEST, faults)), 0);
  }

  private Place atPeer(
      Route route,
      Region region,
      Permission permission,
      Map<Integer, Fault> faults,
      EventLoops loops) {
    var owner = closing(ExchangePath.exchange(host, loops));
    var address = closing(owner.export(region, permission, Duration.ofMinutes(5))).address();
    return new Place.AtPeer(
        route.name().contains("SHARED_MEMORY")
            ? address
            : byNetwork(address, route.breaksNetwork() ? faults : Map.of()),
        0);
  }

  private RegionAddress byNetwork(RegionAddress to, Map<Integer, Fault> faults) {
    int port = closing(new TcpFaultLink(to.port(), faults, SLOT / 2)).port();
    return new RegionAddress(
        to.host(), port, to.lease(), to.secret(), to.byteSize(), to.permission());
  }

  void fillSource(byte[] data) throws InterruptedException {
    if (read != null) {
      read.write(0, ByteBuffer.wrap(data));
    } else {
      fill(source, data);
    }
  }

  void fillTarget(byte[] data) throws InterruptedException {
    if (lent != null) {
      lent.write(0, ByteBuffer.wrap(data));
    } else {
      fill(target, data);
    }
  }

  /** Fills a place in one transfer at most, and memory of the host without any. */
  private void fill(Place place, byte[] data) throws InterruptedException {
    if (place instanceof Place.InRegion(Region region, long _)) {
      region.write(0, ByteBuffer.wrap(data));
      return;
    }
    var staging = host.allocate(ALIGNED);
    staging.write(0, ByteBuffer.wrap(data));
    move(new Place.InRegion(staging, 0), place);
    staging.close();
  }

  byte[] target() throws InterruptedException {
    var all = new byte[SIZE];
    if (lent != null) {
      lent.read(0, ByteBuffer.wrap(all));
    } else if (target instanceof Place.InRegion(Region region, long _)) {
      region.read(0, ByteBuffer.wrap(all));
    } else {
      var staging = host.allocate(ALIGNED);
      move(target, new Place.InRegion(staging, 0));
      staging.read(0, ByteBuffer.wrap(all));
      staging.close();
    }
    return all;
  }

  private void move(Place from, Place to) throws InterruptedException {
    var soon = TransferPath.soon();
    assertThat(mover.move(from, to, SIZE, Priority.ONBOARD, soon).await(soon)).isEqualTo(SIZE);
  }

  /** Starts to move the first bytes. */
  Transfer start(Deadline deadline) {
    return mover.move(source, target, MOVED, Priority.ONBOARD, deadline);
  }

  /** Starts to move them as a batch of one move for each piece. */
  Transfer startBatch(Deadline deadline) {
    var moves = new ArrayList<Move>();
    for (long at = 0; at < MOVED; at += SLOT) {
      moves.add(new Move(moved(source, at), moved(target, at), SLOT));
    }
    return mover.moveAll(moves, Priority.ONBOARD, deadline);
  }

  private static Place moved(Place place, long offset) {
    return switch (place) {
      case Place.InRegion in -> new Place.InRegion(in.region(), offset);
      case Place.OnDisk disk -> new Place.OnDisk(disk.space(), offset);
      case Place.AtPeer peer -> new Place.AtPeer(peer.address(), offset);
    };
  }

  int idleSlots() {
    return pool.idle();
  }

  @Override
  public void close() throws IOException {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (IOException | RuntimeException failure) {
        throw failure;
      } catch (Exception failure) {
        throw new IOException(failure);
      }
    }
    if (fake != null) {
      assertThat(fake.violations()).isZero();
    }
  }
}
