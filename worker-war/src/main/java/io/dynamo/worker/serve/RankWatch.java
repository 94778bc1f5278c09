package io.dynamo.worker.serve;

import io.dynamo.error.DynamoException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The last sign of life of one rank, and the streams that wait for it. A rank that owes an item and
 * shows no sign for too long is silent; the next sign ends that. Safe for concurrent use.
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

  /**
   * Records an item or a pass.
   *
   * @return the time of the sign
   */
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
   * Whether a requester has waited for longer than {@code limit} since the last sign; twice as long
   * while other streams are idle, as their unread items may occupy the room that is waited for.
   * Also applies to a silent rank: a request admitted just before may start to wait just after.
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

  /** Marks the rank as silent and ends all its streams. */
  void giveUp(DynamoException cause) {
    silent = true;
    waiting.forEach(stream -> stream.lose(cause));
  }
}
