package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Gives out the turns of lines: a bounded number of lines of all batches is in memory and under way
 * at once, and none begins while clients wait or results find no room. Safe for concurrent use.
 */
final class LineTurns {
  private static final Duration LOOK = Duration.ofMillis(200);
  private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final RoomCheck room;
  private final BatchLines lines;
  private final LongSupplier nanoClock;
  private final Semaphore free;
  private final AtomicLong askNanos; // when the database is asked next
  private volatile boolean isFull; // as the database said last

  /** Asks the database whether results find no room. */
  interface RoomCheck {
    boolean isFull() throws InterruptedException;
  }

  LineTurns(RoomCheck room, BatchLines lines, int most, LongSupplier nanoClock) {
    this.room = room;
    this.lines = lines;
    this.nanoClock = nanoClock;
    this.free = new Semaphore(most, true);
    this.askNanos = new AtomicLong(nanoClock.getAsLong());
  }

  /**
   * Waits a moment for a turn; returns whether it was given, to be ended then.
   *
   * @param sends whether the line asks a worker: clients go first then
   */
  boolean tryBegin(RunStop stop, boolean sends) throws InterruptedException {
    if (sends && (lines.areClientsWaiting() || hasNoRoom())) {
      stop.await(LOOK);
      return false;
    }
    return free.tryAcquire(LOOK.toNanos(), TimeUnit.NANOSECONDS);
  }

  void end() {
    free.release();
  }

  /** Whether a result could not be kept. One of all callers asks the database, once a second. */
  private boolean hasNoRoom() throws InterruptedException {
    long due = askNanos.get();
    long now = nanoClock.getAsLong();
    if (now - due >= 0 && askNanos.compareAndSet(due, now + ASK_NANOS)) {
      try {
        isFull = room.isFull();
      } catch (ApiException e) {
        isFull = true; // the database is down
      }
    }
    return isFull;
  }
}
