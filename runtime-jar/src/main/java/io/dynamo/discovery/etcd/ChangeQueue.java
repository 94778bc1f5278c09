package io.dynamo.discovery.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Hands the changes of one watch from the threads of etcd's client to the thread of discovery. It
 * is bounded: when the reader falls behind by more than the bound, the queue {@linkplain #breakOff
 * breaks off}, and the reader looks at the whole store instead. Safe for concurrent use; one
 * reader.
 */
final class ChangeQueue {
  private static final int CAPACITY = 4096; // responses; one may hold several changes

  private final ArrayBlockingQueue<List<StoreChange>> queue = new ArrayBlockingQueue<>(CAPACITY);
  private volatile @Nullable String brokenBy;

  /** Adds changes in the order of the store. Never waits. */
  void add(List<StoreChange> changes) {
    if (!queue.offer(changes)) {
      breakOff("more than " + CAPACITY + " changes of etcd wait");
    }
  }

  /**
   * Ends the queue: the reader's next call fails. Never waits.
   *
   * @param why for the log
   */
  void breakOff(String why) {
    if (brokenBy == null) {
      brokenBy = why;
    }
    wake();
  }

  /** Has the reader return from waiting without a change. Never waits. */
  void wake() {
    queue.offer(List.of()); // full: the reader does not wait
  }

  /**
   * Returns all changes that are there; waits for one when there is none.
   *
   * @return empty after {@link #wake} and after {@code patience}
   * @throws StoreGapException when the queue has been broken off
   */
  List<StoreChange> next(Duration patience) throws InterruptedException {
    var first = queue.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
    var why = brokenBy;
    if (why != null) {
      throw new StoreGapException(why);
    }
    if (first == null) {
      return List.of();
    }
    var all = new ArrayList<>(first);
    var more = new ArrayList<List<StoreChange>>();
    queue.drainTo(more);
    more.forEach(all::addAll);
    return all;
  }
}
