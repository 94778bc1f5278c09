package io.dynamo.frontend.media;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.function.LongSupplier;

/** Names that were noted of late. Bounded in number and age. Safe for concurrent use. */
final class RecentNames {
  private static final int MOST = 4096;

  private final Duration kept;
  private final LongSupplier nanoClock;
  private final LinkedHashMap<String, Long> ends = new LinkedHashMap<>(); // guarded by this

  /**
   * @param kept how long a name counts
   */
  RecentNames(Duration kept, LongSupplier nanoClock) {
    this.kept = kept;
    this.nanoClock = nanoClock;
  }

  synchronized void add(String name) {
    ends.remove(name);
    ends.put(name, nanoClock.getAsLong() + kept.toNanos());
    if (ends.size() > MOST) {
      ends.pollFirstEntry();
    }
  }

  synchronized void remove(String name) {
    ends.remove(name);
  }

  synchronized boolean has(String name) {
    var end = ends.get(name);
    if (end != null && end - nanoClock.getAsLong() <= 0) {
      ends.remove(name);
      return false;
    }
    return end != null;
  }
}
