package io.dynamo.event.nats;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The publishers of one subject and the sequence that each is expected to send next. Both the
 * publishers and the memory of those that have left are bounded. Not safe for concurrent use.
 */
final class KnownPublishers {
  static final int MAX_PUBLISHERS = 10_000;

  /** The sequence number expected next from one publisher. */
  static final class Expected {
    private static final long UNKNOWN = -1;

    private long sequence = UNKNOWN;

    /** Whether event {@code next} or a later one has arrived already. */
    boolean hasPassed(long next) {
      return sequence != UNKNOWN && next < sequence;
    }

    /** Notes the arrival of event {@code next}; returns how many events are missing before it. */
    long missedBefore(long next) {
      long missed = sequence != UNKNOWN && next > sequence ? next - sequence : 0;
      sequence = next + 1;
      return missed;
    }
  }

  private final Map<Long, Expected> known =
      new LinkedHashMap<>(16, 0.75f, true); // longest silent first
  private final Set<Long> left = new LinkedHashSet<>(); // oldest first

  /** Notes a publisher that discovery reports; returns whether it is new. */
  boolean register(long id) {
    left.remove(id);
    return known.putIfAbsent(id, new Expected()) == null;
  }

  /** Returns the expectations about a publisher; null for an unknown one. */
  @Nullable Expected find(long id) {
    return known.get(id);
  }

  /** Adds a publisher of which an event has arrived. */
  Expected add(long id) {
    var expected = new Expected();
    known.put(id, expected);
    return expected;
  }

  /** Notes that a publisher has left discovery; returns whether it was known. */
  boolean remove(long id) {
    left.add(id);
    if (left.size() > MAX_PUBLISHERS) {
      left.remove(left.iterator().next());
    }
    return known.remove(id) != null;
  }

  /** Whether a publisher has left discovery, so that its late events no longer count. */
  boolean hasLeft(long id) {
    return left.contains(id);
  }

  /** Removes the publisher that has been silent for longest and returns it when there are many. */
  @Nullable Long removeExcess() {
    if (known.size() <= MAX_PUBLISHERS) {
      return null;
    }
    var silent = known.keySet().iterator().next();
    known.remove(silent);
    return silent;
  }
}
