package io.dynamo.frontend.responses;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The responses that are not written yet, in the order in which they came, bounded by bytes and
 * number. Safe for concurrent use; one thread takes them.
 */
final class WaitingResponses {
  private static final int MAX_COUNT = 100_000;

  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, StoredResponse> byId = new LinkedHashMap<>();
  private long bytes;
  private boolean closed;
  private boolean resting; // the thread that takes them waits for the next

  WaitingResponses(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns whether there was room. */
  boolean add(StoredResponse response) {
    lock.lock();
    try {
      if (closed || byId.size() >= MAX_COUNT || bytes + response.bytes() > maxBytes) {
        return false;
      }
      byId.put(response.id(), response);
      bytes += response.bytes();
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether at least half of the room is free. */
  boolean isHalfEmpty() {
    lock.lock();
    try {
      return bytes <= maxBytes / 2 && byId.size() <= MAX_COUNT / 2;
    } finally {
      lock.unlock();
    }
  }

  /** Moves a response behind all others; does nothing when it is no longer queued. */
  void postpone(String id) {
    lock.lock();
    try {
      var response = byId.remove(id);
      if (response != null) {
        byId.put(id, response);
      }
    } finally {
      lock.unlock();
    }
  }

  @Nullable StoredResponse get(String id) {
    lock.lock();
    try {
      return byId.get(id);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns a response by its id, and those that it continues, as far as they wait.
   *
   * @param most number of them
   */
  Map<String, StoredResponse> conversation(String newest, int most) {
    lock.lock();
    try {
      var turns = new HashMap<String, StoredResponse>();
      for (var turn = byId.get(newest); turn != null && turns.size() < most; ) {
        turns.put(turn.id(), turn);
        var previous = turn.previousId();
        turn = previous == null ? null : byId.get(previous);
      }
      return turns;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the response was there. */
  boolean remove(String id) {
    lock.lock();
    try {
      var removed = byId.remove(id);
      if (removed == null) {
        return false;
      }
      bytes -= removed.bytes();
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the first responses, which stay: at least one if there is any. */
  List<StoredResponse> first(int maxCount, long maxBatchBytes) {
    lock.lock();
    try {
      var first = new ArrayList<StoredResponse>();
      long total = 0;
      for (var response : byId.values()) {
        total += response.bytes();
        if (!first.isEmpty() && (first.size() == maxCount || total > maxBatchBytes)) {
          break;
        }
        first.add(response);
      }
      return first;
    } finally {
      lock.unlock();
    }
  }

  int count() {
    lock.lock();
    try {
      return byId.size();
    } finally {
      lock.unlock();
    }
  }

  /** Closes the queue and ends all waits. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is a response, the time is over, or the queue is closed. */
  void awaitAny(long nanos) throws InterruptedException {
    lock.lock();
    try {
      resting = true;
      changed.signalAll();
      long left = nanos;
      while (byId.isEmpty() && !closed && left > 0) {
        left = changed.awaitNanos(left);
      }
    } finally {
      resting = false;
      lock.unlock();
    }
  }

  /** Waits until the time is over or the queue is closed. */
  void awaitClose(long nanos) throws InterruptedException {
    lock.lock();
    try {
      long left = nanos;
      while (!closed && left > 0) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the queue is empty and its writer is idle; returns false when the time was over
   * first.
   */
  boolean awaitRest(long timeout, TimeUnit unit) throws InterruptedException {
    lock.lock();
    try {
      long left = unit.toNanos(timeout);
      while (!(byId.isEmpty() && resting) && left > 0) {
        left = changed.awaitNanos(left);
      }
      return byId.isEmpty() && resting;
    } finally {
      lock.unlock();
    }
  }
}
