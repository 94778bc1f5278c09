package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.natives.RegionLoans;
import io.dynamo.transfer.BlockPlace;
import io.dynamo.transfer.BlockPlace.Storage;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.MemorySharing;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferLane;
import io.dynamo.transfer.TransferPlan;
import io.dynamo.transfer.TransferPlanner;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Regions of one host by shared memory, all others by network. A process that lends a region of
 * {@link HostMemory#allocateShared} passes its memory on to processes of its user that know the
 * lease's secret; they map it, copy into it or from it, and keep it mapped for further copies until
 * the lease ends. Then the kernel confirms that nobody has it mapped for writing any more; readers
 * find the lease over after their copy, and discard that. Safe for concurrent use.
 *
 * <p>Each way is chosen before a byte is moved; a counter says how many bytes took which.
 */
public final class SharedMemoryExchange implements RegionExchange {
  private static final System.Logger LOG = System.getLogger(SharedMemoryExchange.class.getName());
  private static final BlockPlace HERE = BlockPlace.local(Storage.SYSTEM);
  private static final BlockPlace THERE = BlockPlace.remote(Storage.SYSTEM);
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int NAME_BYTES = 16;
  private static final int MOST_COPIES = 16;
  private static final long IDLE_SECONDS = 10;
  private static final long RETURN_LOOK_NANOS = Duration.ofMillis(1).toNanos();

  /**
   * How long other processes may take.
   *
   * @param loan to pass their memory on, before the bytes take the network
   * @param giveBack to let go of memory whose lease is over
   */
  record Patience(Duration loan, Duration giveBack) {
    static final Patience STANDARD = new Patience(Duration.ofMillis(500), Duration.ofSeconds(2));
  }

  private final RegionExchange network;
  private final Patience patience;
  private final @Nullable NativeHostMemory memory;
  private final @Nullable String boot;
  private final Metrics.Counter sharedBytes;
  private final Metrics.Counter networkBytes;
  private final Metrics.Counter sharedReadBytes;
  private final Metrics.Counter networkReadBytes;
  private final ExecutorService copiers;
  private final Borrowings borrowings = new Borrowings();
  private final SharedUses uses = new SharedUses();
  private final SharedCopy.Exchange ofCopies = new OfCopies();
  private final Set<SharedCopy> running = ConcurrentHashMap.newKeySet();
  private final Set<NativeStatus> reported = ConcurrentHashMap.newKeySet();
  private @Nullable Lender lender; // guarded by this, like closed
  private boolean closed;

  /** This exchange, as its copies see it. */
  private final class OfCopies implements SharedCopy.Exchange {
    @Override
    public Transfer moveByNetwork(SharedCopy.Order order) {
      return order.isRead()
          ? readByNetwork(order.peer(), order.range(), order.own(), order.deadline())
          : byNetwork(order.own(), order.range(), order.peer(), order.deadline());
    }

    @Override
    public void reportRefusal(NativeStatus why) {
      report(why, "a region of this host is reached by network");
    }

    @Override
    public void countShared(SharedCopy.Order order, long bytes) {
      (order.isRead() ? sharedReadBytes : sharedBytes).add(bytes);
    }
  }

  /** The thread that answers this process's borrowers. */
  private record Lender(long handle, MemorySharing address) {}

  /** A lease that the lender's thread answers for. */
  private record Loan(Lender lender, SharedUses.Use use) {}

  /**
   * @param network for all regions, closed with this
   * @param memory without native code nothing is shared
   */
  public SharedMemoryExchange(RegionExchange network, HostMemory memory, Metrics metrics) {
    this(
        network,
        memory,
        metrics,
        Thread.ofPlatform().daemon().name("shared-memory-", 0).factory(),
        Patience.STANDARD);
  }

  SharedMemoryExchange(
      RegionExchange network,
      HostMemory memory,
      Metrics metrics,
      ThreadFactory threads,
      Patience patience) {
    this.network = network;
    this.patience = patience;
    this.memory = memory instanceof NativeHostMemory shareable ? shareable : null;
    this.boot = this.memory == null ? null : bootId();
    this.sharedBytes = metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", "shm"));
    this.networkBytes = metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", "tcp"));
    this.sharedReadBytes = metrics.counter(TransferMetrics.READ_BYTES, new Label("path", "shm"));
    this.networkReadBytes = metrics.counter(TransferMetrics.READ_BYTES, new Label("path", "tcp"));
    // Platform threads: a native call that waits would pin the carrier of a virtual one.
    this.copiers =
        new ThreadPoolExecutor(
            0, MOST_COPIES, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), threads);
  }

  private static @Nullable String bootId() {
    try {
      return Files.readString(BOOT_ID).strip();
    } catch (IOException unreadable) {
      LOG.log(Level.INFO, "no memory is shared with other processes: {0}", unreadable.toString());
      return null;
    }
  }

  @Override
  public Export export(Region region, Permission permission, Duration time) {
    var export = network.export(region, permission, time);
    if (memory == null || boot == null || !memory.owns(region)) {
      return export;
    }
    long handle = memory.handle(region);
    try {
      var loan = lend(export.address(), handle, time);
      return loan == null ? export : new SharedExport(export, loan, region);
    } catch (RuntimeException failure) {
      export.close();
      throw failure;
    }
  }

  /** Returns null when the region is reached by network only. */
  private synchronized @Nullable Loan lend(RegionAddress address, long region, Duration time) {
    var answering = lender();
    var use = answering == null ? null : uses.begin(region, address.permission(), time);
    if (answering == null || use == null) {
      return null;
    }
    var status =
        NativeStatus.of(
            RegionLoans.lend(
                answering.handle,
                address.lease(),
                address.secret(),
                region,
                time.toNanos(),
                address.permission() == Permission.READ));
    if (status != NativeStatus.OK) {
      uses.end(use);
    }
    if (status != NativeStatus.OK && status != NativeStatus.INVALID) { // which is not shared
      report(status, "a region is lent by network only");
    }
    return status == NativeStatus.OK ? new Loan(answering, use) : null;
  }

  private synchronized @Nullable Lender lender() {
    if (closed) {
      throw new IllegalStateException("the exchange of regions is closed");
    }
    var known = lender;
    if (known == null && boot != null) {
      var random = new byte[NAME_BYTES];
      new SecureRandom().nextBytes(random);
      var name = "dynamo-" + HexFormat.of().formatHex(random);
      long handle = RegionLoans.openLender(name.getBytes(StandardCharsets.US_ASCII));
      if (handle < 0) {
        report(NativeStatus.of(handle), "regions are lent by network only");
        return null;
      }
      known = new Lender(handle, new MemorySharing(boot, name));
      lender = known;
    }
    return known;
  }

  private void report(NativeStatus status, String what) {
    if (reported.add(status)) {
      LOG.log(Level.INFO, "{0}: {1}; said once for each reason", what, status);
    }
  }

  /** A region that others may write into, or read, by network and by memory that they share. */
  private final class SharedExport implements Export {
    private final Export byNetwork;
    private final Loan loan;
    private final Region region;

    SharedExport(Export byNetwork, Loan loan, Region region) {
      this.byNetwork = byNetwork;
      this.loan = loan;
      this.region = region;
    }

    @Override
    public RegionAddress address() {
      return byNetwork.address().sharedBy(loan.lender.address);
    }

    /** {@inheritDoc} Readers are not waited for; they discard what they copy from now on. */
    @Override
    public void close() {
      var address = byNetwork.address();
      RegionLoans.endLease(loan.lender.handle, address.lease());
      byNetwork.close();
      if (address.permission() == Permission.WRITE) {
        takeBack();
      }
      uses.end(loan.use);
    }

    /**
     * Waits until no other process has the memory mapped for writing. Borrowers have a {@linkplain
     * Patience limited time} to let go of it. Where one keeps the memory in spite of that, the
     * region is closed: nobody may rely on bytes that change.
     */
    private void takeBack() {
      long handle = loan.use.region();
      var until = Deadline.after(patience.giveBack);
      var status = NativeStatus.of(NativeTransfer.freeze(handle));
      boolean interrupted = false; // else it would not wait between its looks
      while (status == NativeStatus.BUSY && !until.isExpired()) {
        interrupted |= Thread.interrupted();
        LockSupport.parkNanos(RETURN_LOOK_NANOS);
        status = NativeStatus.of(NativeTransfer.freeze(handle));
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      if (status != NativeStatus.OK && status != NativeStatus.STALE) {
        region.close();
        LOG.log(
            Level.WARNING,
            "a region of {0} bytes is given up at the end of its lease: {1}",
            region.byteSize(),
            status == NativeStatus.BUSY
                ? "another process has not let go of it"
                : "its pages cannot be taken back (" + status + ")");
      }
    }
  }

  @Override
  public Transfer write(Region source, Range range, RegionAddress to, Deadline deadline) {
    var plan = TransferPlanner.plan(HERE, THERE, lanes(source, range, to));
    var shared =
        plan.equals(new TransferPlan.Direct(TransferLane.SHARED_MEMORY))
            ? shared(source, range, to, deadline)
            : null;
    return shared == null ? byNetwork(source, range, to, deadline) : shared;
  }

  @Override
  public Transfer read(RegionAddress from, Range range, Region target, Deadline deadline) {
    boolean isShared =
        from.permission() == Permission.READ
            && isShared(from)
            && memory != null
            && memory.owns(target)
            && range.isWithin(from.byteSize(), target.byteSize()); // else the network refuses it
    var shared = isShared ? shared(target, range, from, deadline) : null;
    return shared == null ? readByNetwork(from, range, target, deadline) : shared;
  }

  private Transfer readByNetwork(
      RegionAddress from, Range range, Region target, Deadline deadline) {
    var transfer = network.read(from, range, target, deadline);
    var _ = transfer.outcome().thenAccept(networkReadBytes::add);
    return transfer;
  }

  /** Returns whether an address is of a process that shares memory with this one. */
  boolean isShared(RegionAddress to) {
    var sharing = to.sharing();
    return sharing != null && memory != null && sharing.boot().equals(boot);
  }

  /** Returns the lanes that lead from a region to an address; the network tries any. */
  private Set<TransferLane> lanes(Region source, Range range, RegionAddress to) {
    boolean isShared =
        to.permission() == Permission.WRITE
            && isShared(to)
            && memory != null
            && memory.owns(source)
            && range.isWithin(source.byteSize(), Long.MAX_VALUE); // else the network refuses it
    return isShared
        ? EnumSet.of(TransferLane.SHARED_MEMORY, TransferLane.NETWORK)
        : EnumSet.of(TransferLane.NETWORK);
  }

  private Transfer byNetwork(Region source, Range range, RegionAddress to, Deadline deadline) {
    var transfer = network.write(source, range, to, deadline);
    var _ = transfer.outcome().thenAccept(networkBytes::add);
    return transfer;
  }

  /** Begins a copy by shared memory. Returns null when no thread is free for it. */
  private @Nullable Transfer shared(
      Region own, Range range, RegionAddress peer, Deadline deadline) {
    var sharing = peer.sharing();
    if (sharing == null || memory == null) {
      return null;
    }
    var order = new SharedCopy.Order(own, range, peer, sharing, deadline);
    var copy = new SharedCopy(memory, borrowings, order, ofCopies, patience.loan);
    running.add(copy);
    var _ = copy.transfer().outcome().whenComplete((_, _) -> running.remove(copy));
    try {
      copiers.execute(copy);
    } catch (RejectedExecutionException full) { // too many, or closed
      running.remove(copy);
      return null;
    } catch (OutOfMemoryError noThread) {
      running.remove(copy);
      report(NativeStatus.NO_MEMORY, "a region of this host is reached by network");
      return null;
    }
    return copy.transfer();
  }

  @Override
  public void close() {
    Lender ending;
    synchronized (this) {
      closed = true;
      ending = lender;
    }
    if (ending != null) {
      RegionLoans.closeLender(ending.handle);
    }
    copiers.shutdown();
    running.forEach(copy -> copy.transfer().cancel());
    if (memory != null) {
      borrowings.close();
    }
    network.close();
  }
}
