package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts faults in the way of the n-th transfer of an exchange, a client or a disk space; the others
 * go on as usual. Safe for concurrent use.
 */
public final class TransferFaults implements AutoCloseable {
  /** The things that go wrong. */
  public enum Fault {
    /** The transfer begins late. */
    DELAY,
    /** The transfer never begins: its deadline or a cancellation ends it. */
    DROP,
    /** Half of the bytes arrive, and the transfer fails. */
    SHORT,
    /** One bit of the bytes arrives inverted, and nobody notices. */
    CORRUPT,
    /** The transfer fails before a byte is moved. */
    FAIL
  }

  private static final Duration DELAY = Duration.ofMillis(50);

  /** One transfer, as its implementation does it, and badly. */
  private record Moves(Supplier<Transfer> whole, Supplier<Transfer> half, Supplier<Transfer> bad) {}

  private final Map<Integer, Fault> faults = new ConcurrentHashMap<>(); // by number, from 1
  private final AtomicInteger begun = new AtomicInteger();
  private volatile Duration delay = DELAY;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("faults").factory());

  /** Adds a fault to the transfer of that number; the first one is 1. */
  public TransferFaults at(int number, Fault fault) {
    faults.put(number, fault);
    return this;
  }

  /** Sets how late the next transfers with {@link Fault#DELAY} begin. */
  public TransferFaults lateBy(Duration time) {
    delay = time;
    return this;
  }

  private Transfer begin(Moves moves, Deadline deadline) {
    var fault = faults.get(begun.incrementAndGet());
    return switch (fault) {
      case null -> moves.whole.get();
      case DELAY -> delayed(moves.whole, deadline);
      case DROP -> delayed(null, deadline);
      case SHORT -> followed(moves.half.get(), broken("half of the bytes"));
      case CORRUPT -> moves.bad.get();
      case FAIL -> {
        var failing = new Transfer(() -> {});
        failing.fail(broken("no bytes"));
        yield failing;
      }
    };
  }

  private static TransferFailedException broken(String after) {
    return new TransferFailedException(
        Reason.PEER_LOST, "the connection broke after " + after, null);
  }

  /** Begins a transfer late; one without a beginning waits for its end. */
  private Transfer delayed(@Nullable Supplier<Transfer> whole, Deadline deadline) {
    var late = new Late();
    long end = Math.max(0, deadline.remainingNanos());
    var _ = timer.schedule(late::expire, end, TimeUnit.NANOSECONDS);
    if (whole != null) {
      var _ = timer.schedule(() -> late.begin(whole), delay.toNanos(), TimeUnit.NANOSECONDS);
    }
    return late.transfer;
  }

  /** A transfer that has not started yet, or follows one that has. */
  private static final class Late {
    private final Transfer transfer = new Transfer(this::giveUp);
    private @Nullable Transfer real; // guarded by this, like ended
    private boolean ended;

    private synchronized void giveUp() {
      end(new CancelledException("the transfer was cancelled"));
    }

    synchronized void expire() {
      end(new DeadlineExceededException("the deadline of the transfer passed"));
    }

    private void end(RuntimeException why) {
      ended = true;
      if (real == null) {
        transfer.fail(why);
      } else {
        real.cancel();
      }
    }

    synchronized void begin(Supplier<Transfer> whole) {
      if (!ended) {
        real = whole.get();
        var _ = real.outcome().whenComplete((bytes, failure) -> finish(transfer, bytes, failure));
      }
    }
  }

  private static void finish(Transfer transfer, @Nullable Long bytes, @Nullable Throwable failure) {
    if (bytes != null) {
      transfer.complete(bytes);
    } else {
      var cause = failure instanceof CompletionException ? failure.getCause() : failure;
      transfer.fail(cause instanceof RuntimeException known ? known : new IllegalStateException());
    }
  }

  private static Transfer followed(Transfer real, RuntimeException failure) {
    var transfer = new Transfer(real::cancel);
    var _ = real.outcome().whenComplete((_, _) -> transfer.fail(failure));
    return transfer;
  }

  private static Transfer then(Transfer real, Runnable after) {
    var transfer = new Transfer(real::cancel);
    var _ =
        real.outcome()
            .whenComplete(
                (bytes, failure) -> {
                  after.run();
                  finish(transfer, bytes, failure);
                });
    return transfer;
  }

  private static void invertBit(Region region, long offset) {
    var one = ByteBuffer.allocate(1);
    region.read(offset, one);
    region.write(offset, ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 1)}));
  }

  private static Region damagedCopy(HostMemory memory, Region source) {
    var copy = memory.allocate(source.byteSize());
    memory.copy(source, copy, new CopyBatch().add(0, 0, source.byteSize()));
    invertBit(copy, 0);
    return copy;
  }

  /**
   * Returns an exchange whose writes have these faults.
   *
   * @param memory of the sources
   */
  public RegionExchange over(RegionExchange exchange, HostMemory memory) {
    return new RegionExchange() {
      @Override
      public Export export(Region region, Duration lease) {
        return exchange.export(region, lease);
      }

      @Override
      public Transfer write(Region source, long byteSize, RegionAddress to, Deadline deadline) {
        return begin(
            new Moves(
                () -> exchange.write(source, byteSize, to, deadline),
                () -> exchange.write(source, byteSize / 2, to, deadline),
                () -> {
                  var bad = damagedCopy(memory, source);
                  return then(exchange.write(bad, byteSize, to, deadline), bad::close);
                }),
            deadline);
      }

      @Override
      public void close() {
        exchange.close();
      }
    };
  }

  /** Returns a client whose copies have these faults. */
  public TransferClient over(TransferClient client) {
    return new TransferClient() {
      @Override
      public String kind() {
        return client.kind();
      }

      @Override
      public int capacity() {
        return client.capacity();
      }

      @Override
      public Transfer copy(
          BlockRegion source,
          BlockRegion target,
          CopyBatch batch,
          Priority priority,
          Deadline deadline) {
        var half = new CopyBatch();
        for (int i = 0; i < batch.count(); i++) {
          half.add(batch.sourceOffset(i), batch.targetOffset(i), batch.length(i) / 2);
        }
        Supplier<Transfer> whole = () -> client.copy(source, target, batch, priority, deadline);
        return begin(
            new Moves(
                whole,
                () -> client.copy(source, target, half, priority, deadline),
                () -> then(whole.get(), () -> invertBit((Region) target, batch.targetOffset(0)))),
            deadline);
      }

      @Override
      public Counts counts() {
        return client.counts();
      }

      @Override
      public void close() {
        client.close();
      }
    };
  }

  /**
   * Returns disk space whose requests have these faults.
   *
   * @param memory of the regions
   */
  public DiskSpace over(DiskSpace space, HostMemory memory) {
    return new DiskSpace() {
      @Override
      public long byteSize() {
        return space.byteSize();
      }

      @Override
      public int alignment() {
        return space.alignment();
      }

      @Override
      public String way() {
        return space.way();
      }

      @Override
      public Transfer write(
          Region source, long sourceOffset, long offset, long bytes, Deadline deadline) {
        return begin(
            new Moves(
                () -> space.write(source, sourceOffset, offset, bytes, deadline),
                () -> space.write(source, sourceOffset, offset, half(bytes), deadline),
                () -> {
                  var bad = damagedCopy(memory, source);
                  return then(space.write(bad, sourceOffset, offset, bytes, deadline), bad::close);
                }),
            deadline);
      }

      @Override
      public Transfer read(
          Region target, long targetOffset, long offset, long bytes, Deadline deadline) {
        Supplier<Transfer> whole = () -> space.read(target, targetOffset, offset, bytes, deadline);
        return begin(
            new Moves(
                whole,
                () -> space.read(target, targetOffset, offset, half(bytes), deadline),
                () -> then(whole.get(), () -> invertBit(target, targetOffset))),
            deadline);
      }

      private long half(long bytes) {
        return bytes / 2 / space.alignment() * space.alignment();
      }

      @Override
      public void close() {
        space.close();
      }
    };
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
