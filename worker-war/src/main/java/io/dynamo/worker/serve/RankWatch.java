package io.dynamo.worker.serve;

import io.dynamo.error.DynamoException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * When one rank last showed a sign of life, and who waits for it. A rank that owes somebody an item
 * and shows none for too long is silent; the next sign ends that. Safe for concurrent use.
 */
final class RankWatch {
  private final String name;
  private final LongSupplier nanoTime;
  private final Set<GuardedStream> waiting = ConcurrentHashMap.newKeySet();
  private volatile long lastSignNanos;
  private volatile boolean silent;

  RankWatch(String name, LongSupplier nanoTime) {
    this.name = name;
    this.nanoTime = nanoTime;
    this.lastSignNanos = nanoTime.getAsLong();
  }

  String name() {
    return name;
  }

  long now() {
    return nanoTime.getAsLong();
  }

  void add(GuardedStream stream) {
    waiting.add(stream);
  }

  void remove(GuardedStream stream) {
    waiting.remove(stream);
  }

  /** An item or a pass has come; returns when. */
  long sign() {
    long now = now();
    lastSignNanos = now;
    silent = false;
    return now;
  }

  boolean isSilent() {
    return silent;
  }

  /**
   * Whether somebody has waited for longer than {@code limit} since the last sign; twice as long
   * while others take nothing of what they get, as these may hold the room that is waited for. Also
   * of a silent rank: whoever was let in just before may come to wait just after.
   */
  boolean isOverdue(Duration limit) {
    long now = now();
    if (now - lastSignNanos <= limit.toNanos()) {
      return false;
    }
    long longest = 0;
    boolean anyIdle = false;
    for (var stream : waiting) {
      anyIdle |= stream.isIdle();
      longest = Math.max(longest, stream.waitedNanos(now));
    }
    long most = anyIdle ? 2 * limit.toNanos() : limit.toNanos();
    return longest > most && now - lastSignNanos > most;
  }

  /** Takes the rank for silent and ends all its streams. */
  void giveUp(DynamoException cause) {
    silent = true;
    waiting.forEach(stream -> stream.lose(cause));
  }
}
