package io.dynamo.transfer;

import io.dynamo.concurrent.CoalescedTask;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.transfer.HostMemory.Region;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A move over two lanes, piece by piece through slots of a {@link BouncePool}: while the second
 * lane empties a slot the first one fills others. Ends when none of its pieces is on its way; the
 * first failure stops it. Safe for concurrent use.
 */
final class StagedTransfer {
  /** Starts to move one piece between a slot and its place in the source or the target. */
  @FunctionalInterface
  interface Hop {
    /**
     * @param slotOffset where the slot begins in {@code slot}
     * @param offset of the piece in the whole move
     */
    Transfer move(Region slot, long slotOffset, long offset, long length);
  }

  private static final int MOST_PIECES = 8; // of one move at once: it leaves slots for others

  private final BouncePool pool;
  private final long byteSize;
  private final Hop first;
  private final Hop second;
  private final Transfer whole = new Transfer(this::giveUp);

  // one at a time, so that transfers that end at once do not nest
  private final CoalescedTask steps =
      new CoalescedTask("a move with a stop", Runnable::run, this::step, () -> {});
  private final CompletableFuture<Void> timer = new CompletableFuture<>(); // a slot may never come
  private final BouncePool.Waiter waiter = this::fill;
  private final Set<Transfer> moving = new HashSet<>(); // guarded by this, like the rest
  private @Nullable RuntimeException failure;
  private boolean waits; // for a slot
  private int pieces; // that have a slot
  private long begun;
  private long moved;

  private StagedTransfer(BouncePool pool, long byteSize, Hop first, Hop second) {
    this.pool = pool;
    this.byteSize = byteSize;
    this.first = first;
    this.second = second;
  }

  /**
   * @param deadline which the hops have, too; here it ends the wait for a slot
   */
  static Transfer start(BouncePool pool, long byteSize, Hop first, Hop second, Deadline deadline) {
    var staged = new StagedTransfer(pool, byteSize, first, second);
    if (byteSize > 0) {
      var _ =
          staged
              .timer
              .orTimeout(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)
              .whenComplete((_, passed) -> staged.expire(passed));
    }
    var _ = staged.steps.request();
    return staged.whole;
  }

  /** Asks for the next slot, or ends. */
  private void step() {
    boolean ends;
    boolean leaves;
    synchronized (this) {
      leaves = failure != null && waits;
      boolean wants = failure == null && begun < byteSize && pieces < MOST_PIECES && !waits;
      ends = !wants && !waits && pieces == 0 && (failure != null || begun == byteSize);
      if (!wants && !ends && !leaves) {
        return;
      }
      waits |= wants;
    }
    if (leaves) {
      stopWaiting();
      return;
    }
    if (ends) {
      end();
      return;
    }
    try {
      pool.take(waiter);
    } catch (TransferBusyException full) {
      synchronized (this) {
        waits = false;
      }
      fail(full);
      var _ = steps.request();
      return;
    }
    boolean isOver;
    synchronized (this) {
      isOver = failure != null && waits;
    }
    if (isOver) { // it failed while the waiter was not in the queue yet
      stopWaiting();
    }
  }

  private void stopWaiting() {
    if (pool.leave(waiter)) { // else a slot is on its way
      synchronized (this) {
        waits = false;
      }
      var _ = steps.request();
    }
  }

  private void end() {
    RuntimeException why;
    long bytes;
    synchronized (this) {
      why = failure;
      bytes = moved;
    }
    timer.complete(null);
    if (why == null) {
      whole.complete(bytes);
    } else {
      whole.fail(why);
    }
  }

  /** Runs when the deadline has passed, or when the move has ended before it. */
  private void expire(@Nullable Throwable passed) {
    if (passed != null) {
      stop(new DeadlineExceededException("the deadline of the transfer passed"));
    }
  }

  /** Fills a slot that has come. */
  private void fill(int slot) {
    long offset;
    long length;
    synchronized (this) {
      waits = false;
      if (failure != null) {
        offset = 0;
        length = 0;
      } else {
        offset = begun;
        length = Math.min(pool.slotBytes(), byteSize - begun);
        begun += length;
      }
      pieces++;
    }
    if (length == 0) {
      leave(slot, 0);
      return;
    }
    begin(first, slot, offset, length, () -> empty(slot, offset, length));
    var _ = steps.request(); // the next slot is filled meanwhile
  }

  private void empty(int slot, long offset, long length) {
    begin(second, slot, offset, length, () -> leave(slot, length));
  }

  private void begin(Hop hop, int slot, long offset, long length, Runnable then) {
    Transfer started = null;
    RuntimeException refusal = null;
    synchronized (this) {
      if (failure == null) {
        try {
          started = hop.move(pool.region(), pool.offset(slot), offset, length);
          moving.add(started);
        } catch (RuntimeException | Error refused) {
          refusal = Transfer.failureOf(refused);
        }
      }
    }
    if (refusal != null) {
      fail(refusal);
    }
    if (started == null) {
      leave(slot, 0);
      return;
    }
    follow(started, slot, then);
  }

  private void follow(Transfer started, int slot, Runnable then) {
    var _ =
        started
            .outcome()
            .whenComplete(
                (_, why) -> {
                  synchronized (this) {
                    moving.remove(started);
                  }
                  if (why == null) {
                    then.run();
                  } else {
                    fail(Transfer.failureOf(why));
                    leave(slot, 0);
                  }
                });
  }

  private void leave(int slot, long length) {
    pool.giveBack(slot); // before the end, which says that nothing is on its way
    synchronized (this) {
      pieces--;
      moved += length;
    }
    var _ = steps.request();
  }

  private void fail(RuntimeException why) {
    List<Transfer> others;
    synchronized (this) {
      if (failure != null) {
        return;
      }
      failure = why;
      others = List.copyOf(moving);
    }
    others.forEach(Transfer::cancel);
  }

  private void giveUp() {
    stop(new CancelledException("the transfer was cancelled"));
  }

  private void stop(RuntimeException why) {
    fail(why);
    var _ = steps.request(); // which leaves the queue for slots
  }
}
