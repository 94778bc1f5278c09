package io.dynamo.request.tcp;

import io.dynamo.pipeline.ArrivalCharge;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the bytes that all requests of one kind hold at a time, for example while they wait to be
 * sent or are being served. Safe for concurrent use.
 */
final class ByteBudget implements ArrivalCharge.Room {
  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  ByteBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Takes {@code bytes} if the budget has them; when nothing is taken, a request of any size is
   * admitted.
   */
  boolean take(long bytes) {
    return take(bytes, 0);
  }

  @Override
  public boolean take(long more, long held) {
    long all = taken.addAndGet(more);
    if (all > maxBytes && all > held + more) {
      taken.addAndGet(-more);
      return false;
    }
    return true;
  }

  /** Returns to the budget bytes that {@link #take} took. */
  @Override
  public void give(long bytes) {
    taken.addAndGet(-bytes);
  }

  /** Returns the size of the budget in bytes. */
  long maxBytes() {
    return maxBytes;
  }

  /** Returns the bytes that are taken now. */
  long taken() {
    return taken.get();
  }
}
