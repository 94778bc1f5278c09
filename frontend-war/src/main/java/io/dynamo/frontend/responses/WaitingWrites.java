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
 * The responses and turns of conversations that are not written yet, in the order in which they
 * came, bounded by bytes and number. Safe for concurrent use; one thread takes them.
 */
final class WaitingWrites {
  private static final int MAX_COUNT = 100_000;

  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, PendingWrite> byId = new LinkedHashMap<>();
  private final Map<String, List<ConversationTurn>> turns = new HashMap<>(); // by conversation
  private long bytes;
  private boolean closed;
  private boolean resting; // the thread that takes them waits for the next

  WaitingWrites(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns whether there was room. */
  boolean add(PendingWrite write) {
    lock.lock();
    try {
      if (closed || byId.size() >= MAX_COUNT || bytes + write.bytes() > maxBytes) {
        return false;
      }
      byId.put(write.id(), write);
      bytes += write.bytes();
      var turn = write.turn();
      if (turn != null) {
        turns.computeIfAbsent(turn.conversation(), _ -> new ArrayList<>()).add(turn);
      }
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

  /** Moves an entry behind all others; does nothing when it is no longer queued. */
  void postpone(String id) {
    lock.lock();
    try {
      var write = byId.remove(id);
      if (write != null) {
        byId.put(id, write);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the response of that id; null for none. */
  @Nullable StoredResponse get(String id) {
    lock.lock();
    try {
      var write = byId.get(id);
      return write == null ? null : write.response();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the turns of a conversation, the oldest first. */
  List<ConversationTurn> turns(String conversation) {
    lock.lock();
    try {
      return List.copyOf(turns.getOrDefault(conversation, List.of()));
    } finally {
      lock.unlock();
    }
  }

  /** Waits until no turn of a conversation is queued; returns false when the time was over. */
  boolean awaitTurns(String conversation, long nanos) throws InterruptedException {
    lock.lock();
    try {
      long left = nanos;
      while (turns.containsKey(conversation) && left > 0) {
        left = changed.awaitNanos(left);
      }
      return !turns.containsKey(conversation);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns a response by its id, and those that it continues, as far as they wait.
   *
   * @param most number of them
   */
  Map<String, StoredResponse> chain(String newest, int most) {
    lock.lock();
    try {
      var found = new HashMap<String, StoredResponse>();
      for (var response = get(newest); response != null && found.size() < most; ) {
        found.put(response.id(), response);
        var previous = response.previousId();
        response = previous == null ? null : get(previous);
      }
      return found;
    } finally {
      lock.unlock();
    }
  }

  /** Removes what is written or lost; returns whether it was there. */
  boolean remove(String id) {
    lock.lock();
    try {
      var removed = byId.remove(id);
      if (removed == null) {
        return false;
      }
      bytes -= removed.bytes();
      var turn = removed.turn();
      if (turn != null) {
        turns.computeIfPresent(
            turn.conversation(),
            (_, queued) -> {
              queued.remove(turn);
              return queued.isEmpty() ? null : queued;
            });
      }
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Drops a response, but not its turn in a conversation; returns whether it was there. */
  boolean dropResponse(String id) {
    lock.lock();
    try {
      var write = byId.get(id);
      if (write == null || write.response() == null) {
        return false;
      }
      if (write.turn() == null) {
        return remove(id);
      }
      var rest = new PendingWrite(id, null, write.turn());
      byId.put(id, rest); // at its place
      bytes -= write.bytes() - rest.bytes();
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the first entries, which stay: at least one if there is any. */
  List<PendingWrite> first(int maxCount, long maxBatchBytes) {
    lock.lock();
    try {
      var first = new ArrayList<PendingWrite>();
      long total = 0;
      for (var write : byId.values()) {
        total += write.bytes();
        if (!first.isEmpty() && (first.size() == maxCount || total > maxBatchBytes)) {
          break;
        }
        first.add(write);
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

  /** Waits until there is an entry, the time is over, or the queue is closed. */
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
