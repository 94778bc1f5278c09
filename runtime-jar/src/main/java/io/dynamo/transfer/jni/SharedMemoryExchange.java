package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.natives.RegionLoans;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.MemorySharing;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Regions of one host by shared memory, all others by network. A process that lends a region of
 * {@link HostMemory#allocateShared} passes its memory on to processes of its user that know the
 * lease's secret; they map it and copy into it. When the lease ends the kernel confirms that nobody
 * has it mapped any more. Safe for concurrent use.
 *
 * <p>Each way is chosen when a write begins, before a byte is moved; a counter says how many bytes
 * took which.
 */
public final class SharedMemoryExchange implements RegionExchange {
  private static final System.Logger LOG = System.getLogger(SharedMemoryExchange.class.getName());
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int NAME_BYTES = 16;
  private static final int MOST_WRITES = 16;
  private static final long IDLE_SECONDS = 10;

  private final RegionExchange network;
  private final @Nullable NativeHostMemory memory;
  private final @Nullable String boot;
  private final Metrics.Counter sharedBytes;
  private final Metrics.Counter networkBytes;
  private final ExecutorService writers;
  private final Set<SharedWrite> running = ConcurrentHashMap.newKeySet();
  private final Set<NativeStatus> reported = ConcurrentHashMap.newKeySet();
  private @Nullable Lender lender; // guarded by this, like closed
  private boolean closed;

  /** The thread that answers this process's borrowers. */
  private record Lender(long handle, MemorySharing address) {}

  /**
   * @param network for all regions, closed with this
   * @param memory without native code nothing is shared
   */
  public SharedMemoryExchange(RegionExchange network, HostMemory memory, Metrics metrics) {
    this.network = network;
    this.memory = memory instanceof NativeHostMemory shareable ? shareable : null;
    this.boot = this.memory == null ? null : bootId();
    this.sharedBytes = metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", "shm"));
    this.networkBytes = metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", "tcp"));
    // Platform threads: a native call that waits would pin the carrier of a virtual one.
    this.writers =
        new ThreadPoolExecutor(
            0,
            MOST_WRITES,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("shared-memory-", 0).factory());
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
  public Export export(Region region, Duration time) {
    var export = network.export(region, time);
    if (memory == null || boot == null || !memory.owns(region)) {
      return export;
    }
    long handle = memory.handle(region);
    try {
      var sharing = lend(export.address(), handle, time);
      return sharing == null
          ? export
          : new SharedExport(export, sharing, region, handle, export.address().lease());
    } catch (RuntimeException failure) {
      export.close();
      throw failure;
    }
  }

  /** Returns null when the region is reached by network only. */
  private synchronized @Nullable Lender lend(RegionAddress address, long region, Duration time) {
    var answering = lender();
    if (answering == null) {
      return null;
    }
    var status =
        NativeStatus.of(
            RegionLoans.lend(
                answering.handle, address.lease(), address.secret(), region, time.toNanos()));
    if (status != NativeStatus.OK && status != NativeStatus.INVALID) { // which is not shared
      report(status, "a region is lent by network only");
    }
    return status == NativeStatus.OK ? answering : null;
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

  /** A region that others may write into by network, and by memory that they share. */
  private static final class SharedExport implements Export {
    private final Export byNetwork;
    private final Lender answering;
    private final Region region;
    private final long handle;
    private final long lease;

    SharedExport(Export byNetwork, Lender answering, Region region, long handle, long lease) {
      this.byNetwork = byNetwork;
      this.answering = answering;
      this.region = region;
      this.handle = handle;
      this.lease = lease;
    }

    @Override
    public RegionAddress address() {
      return byNetwork.address().sharedBy(answering.address);
    }

    /**
     * {@inheritDoc} Where a borrower keeps the memory in spite of that, the region is closed:
     * nobody may rely on bytes that change.
     */
    @Override
    public void close() {
      RegionLoans.endLease(answering.handle, lease);
      byNetwork.close();
      var status = NativeStatus.of(NativeTransfer.freeze(handle));
      if (status != NativeStatus.OK && status != NativeStatus.STALE) {
        region.close();
        LOG.log(
            Level.WARNING,
            "a region of {0} bytes is given up: its lease is over, and another process has not let"
                + " go of it ({1})",
            region.byteSize(),
            status);
      }
    }
  }

  @Override
  public Transfer write(Region source, long byteSize, RegionAddress to, Deadline deadline) {
    var shared = shared(source, byteSize, to, deadline);
    if (shared != null) {
      return shared;
    }
    var transfer = network.write(source, byteSize, to, deadline);
    var _ = transfer.outcome().thenAccept(networkBytes::add);
    return transfer;
  }

  /** Begins a write by shared memory. Returns null when there is none to be had. */
  private @Nullable Transfer shared(
      Region source, long byteSize, RegionAddress to, Deadline deadline) {
    var sharing = to.sharing();
    if (sharing == null || memory == null || !sharing.boot().equals(boot)) {
      return null;
    }
    if (!memory.owns(source) || byteSize < 0 || byteSize > source.byteSize()) {
      return null; // the network refuses the latter
    }
    long loan =
        RegionLoans.ask(
            sharing.name().getBytes(StandardCharsets.US_ASCII), to.lease(), to.secret());
    if (loan < 0) {
      report(NativeStatus.of(loan), "a region of this host is written by network");
      return null;
    }
    var write = new SharedWrite(memory, source, byteSize, to, loan, deadline);
    running.add(write);
    var _ =
        write
            .transfer()
            .outcome()
            .whenComplete(
                (bytes, _) -> {
                  running.remove(write);
                  if (bytes != null) {
                    sharedBytes.add(bytes);
                  }
                });
    try {
      writers.execute(write);
    } catch (RejectedExecutionException full) { // too many, or closed
      RegionLoans.closeLoan(loan);
      running.remove(write);
      return null;
    }
    return write.transfer();
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
    writers.shutdown();
    running.forEach(write -> write.transfer().cancel());
    network.close();
  }
}
