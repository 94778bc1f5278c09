package io.dynamo.request.tcp;

import io.dynamo.discovery.Instance;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The instances that left discovery a moment ago; a caller may have chosen one before it left. Safe
 * for concurrent use.
 */
final class LostInstances {
  static final Duration REMEMBERED = Duration.ofSeconds(5);

  private final LongSupplier nanoTime;
  private final ConcurrentHashMap<String, Long> lostAtNanos = new ConcurrentHashMap<>();

  LostInstances(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void add(Instance instance) {
    long now = nanoTime.getAsLong();
    lostAtNanos.values().removeIf(at -> isPast(at, now));
    lostAtNanos.put(instance.key(), now);
  }

  void remove(Instance instance) {
    lostAtNanos.remove(instance.key());
  }

  boolean contains(Instance instance) {
    var at = lostAtNanos.get(instance.key());
    return at != null && !isPast(at, nanoTime.getAsLong());
  }

  private static boolean isPast(long at, long now) {
    return now - at >= REMEMBERED.toNanos();
  }
}
