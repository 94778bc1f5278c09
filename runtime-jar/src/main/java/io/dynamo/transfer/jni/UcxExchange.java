package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.NativeUcx;
import io.dynamo.transfer.BlockPlace;
import io.dynamo.transfer.BlockPlace.Storage;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionAddress.UcxOffer;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.TransferLane;
import io.dynamo.transfer.TransferPlan;
import io.dynamo.transfer.TransferPlanner;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes by UCX where a network card places the bytes; all others, and reads, by another exchange.
 * The way is chosen before a byte is moved: a write reads the owner's proof first, and what fails
 * until then takes the other exchange, which has the reason. Safe for concurrent use.
 */
public final class UcxExchange implements RegionExchange {
  private static final System.Logger LOG = System.getLogger(UcxExchange.class.getName());
  private static final BlockPlace HERE = BlockPlace.local(Storage.SYSTEM);
  private static final BlockPlace THERE = BlockPlace.remote(Storage.SYSTEM);

  private final SharedMemoryExchange others;
  private final NativeHostMemory memory;
  private final boolean isForced;
  private final UcxTransport transport;
  private final Metrics.Counter bytes;
  private final SilentPeers silentPeers = new SilentPeers(System::nanoTime);
  private final Set<NativeStatus> reported = ConcurrentHashMap.newKeySet();

  /**
   * Begins to open the library.
   *
   * @param others for all other ways, closed with this
   */
  public UcxExchange(
      SharedMemoryExchange others, NativeHostMemory memory, UcxLibrary library, Metrics metrics) {
    this.others = others;
    this.memory = memory;
    this.isForced = library.isForced();
    this.transport = library.open();
    this.bytes = metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", "ucx"));
  }

  /**
   * Waits until the library has been opened, for a limited time. Until then regions are lent, and
   * written, by the other ways. Returns whether it works here.
   */
  public boolean awaitReady(Duration limit) {
    return transport.isReady(limit);
  }

  @Override
  public Export export(Region region, Permission permission, Duration time) {
    var export = others.export(region, permission, time);
    if (permission != Permission.WRITE) {
      return export;
    }
    try {
      var lease = lend(region, time, export.address());
      return lease == null ? export : new UcxExport(export, region, lease);
    } catch (RuntimeException failure) {
      export.close();
      throw failure;
    }
  }

  /** A region on loan by UCX. */
  private record UcxLease(long id, UcxOffer offer) {}

  /** Returns null when the region is reached by other ways only. */
  private @Nullable UcxLease lend(Region region, Duration time, RegionAddress address) {
    if (!memory.owns(region) || !transport.isReadyNow()) {
      return null;
    }
    long end = System.nanoTime() + time.toNanos();
    var lent = transport.lend(memory.handle(region), UcxProofs.proof(address), end);
    if (lent.isOk()) {
      return new UcxLease(lent.number(), UcxProofs.sealed(address, lent.bytes()));
    }
    if (lent.status() != NativeStatus.STALE) { // whose lease is over, or whose region is closed
      report(lent.status(), "a region is lent without UCX", lent.reason());
    }
    return null;
  }

  private void report(NativeStatus status, String what, String why) {
    if (reported.add(status)) {
      LOG.log(Level.INFO, "{0}: {1}; logged once for each kind of reason", what, why);
    }
  }

  /** A region that others may write into by UCX and by the other ways. */
  private final class UcxExport implements Export {
    private final Export byOthers;
    private final Region region;
    private final UcxLease lease;

    UcxExport(Export byOthers, Region region, UcxLease lease) {
      this.byOthers = byOthers;
      this.region = region;
      this.lease = lease;
    }

    @Override
    public RegionAddress address() {
      return byOthers.address().reachedBy(lease.offer);
    }

    /** {@inheritDoc} Where UCX does not confirm the end in time, the region is closed. */
    @Override
    public void close() {
      boolean isOver = transport.endLease(lease.id);
      byOthers.close();
      if (!isOver) {
        region.close();
        LOG.log(
            Level.WARNING,
            "a region of {0} bytes is given up at the end of its lease: UCX does not answer",
            region.byteSize());
      }
    }
  }

  @Override
  public Transfer write(Region source, Range range, RegionAddress to, Deadline deadline) {
    var offer = to.ucx();
    var plan = TransferPlanner.plan(HERE, THERE, lanes(source, range, to));
    return offer != null && plan.equals(new TransferPlan.Direct(TransferLane.UCX))
        ? new UcxWrite(source, range, to, offer, deadline).transfer
        : others.write(source, range, to, deadline);
  }

  /** {@inheritDoc} Takes the other ways. */
  @Override
  public Transfer read(RegionAddress from, Range range, Region target, Deadline deadline) {
    return others.read(from, range, target, deadline);
  }

  /** Returns the lanes that lead from a region to an address; the network tries any. */
  private Set<TransferLane> lanes(Region source, Range range, RegionAddress to) {
    var lanes = EnumSet.of(TransferLane.NETWORK);
    if (!isForced && others.isShared(to)) {
      lanes.add(TransferLane.SHARED_MEMORY);
    }
    var offer = to.ucx();
    if (offer != null
        && to.permission() == Permission.WRITE
        && memory.owns(source)
        && range.isWithin(source.byteSize(), to.byteSize())
        && transport.isReadyNow()
        && !silentPeers.contains(to)
        && UcxProofs.isSealed(to, offer)) {
      lanes.add(TransferLane.UCX);
    }
    return lanes;
  }

  /** One write by UCX, which goes on by another way when UCX has not written a byte. */
  private final class UcxWrite {
    private final Region source;
    private final Range range;
    private final RegionAddress to;
    private final Deadline deadline;
    private final UcxTransport.Command command;
    final Transfer transfer = new Transfer(this::giveUp);
    private boolean isGivenUp; // guarded by this, like the next one
    private @Nullable Transfer byOthers;

    UcxWrite(Region source, Range range, RegionAddress to, UcxOffer offer, Deadline deadline) {
      this.source = source;
      this.range = range;
      this.to = to;
      this.deadline = deadline;
      var longs = new long[] {range.sourceOffset(), range.targetOffset(), range.byteSize()};
      this.command =
          transport.write(
              memory.handle(source),
              longs,
              offer.bytes(),
              UcxProofs.proof(to),
              deadline.nanoTime());
      var _ = command.outcome().thenAccept(this::ended);
    }

    private void giveUp() {
      Transfer other;
      synchronized (this) {
        isGivenUp = true;
        other = byOthers;
      }
      transport.cancel(command);
      if (other != null) {
        other.cancel();
      }
    }

    private void ended(UcxTransport.Outcome outcome) {
      try {
        if (outcome.isOk()) {
          bytes.add(outcome.number());
          transfer.complete(outcome.number());
        } else if (outcome.status() == NativeStatus.TIMEOUT) {
          transfer.fail(new DeadlineExceededException("the deadline of the transfer passed"));
        } else if (outcome.status() == NativeStatus.CANCELLED) {
          transfer.fail(cancelled());
        } else if (outcome.number() != 0) {
          transfer.fail(
              new TransferFailedException(
                  Reason.PEER_LOST,
                  "writing to the %s by UCX failed: %s".formatted(to, outcome.reason()),
                  null));
        } else {
          if (outcome.code() == NativeUcx.NO_ANSWER) {
            silentPeers.add(to);
          }
          report(outcome.status(), "a region is written without UCX", outcome.reason());
          writeByOthers();
        }
      } catch (RuntimeException failure) {
        transfer.fail(failure);
      }
    }

    private void writeByOthers() {
      Transfer writing;
      synchronized (this) {
        if (isGivenUp) {
          throw cancelled();
        }
        writing = others.write(source, range, to, deadline);
        byOthers = writing;
      }
      var _ =
          writing
              .outcome()
              .whenComplete(
                  (count, failure) -> {
                    if (failure == null) {
                      transfer.complete(count);
                    } else {
                      transfer.fail(cause(failure));
                    }
                  });
    }

    private static RuntimeException cause(Throwable failure) {
      var cause = failure instanceof CompletionException ? failure.getCause() : failure;
      return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
    }

    private static CancelledException cancelled() {
      return new CancelledException("the transfer was cancelled");
    }
  }

  @Override
  public void close() {
    try {
      transport.close();
    } finally {
      others.close();
    }
  }
}
