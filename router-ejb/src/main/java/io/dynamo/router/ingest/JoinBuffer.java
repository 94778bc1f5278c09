package io.dynamo.router.ingest;

import io.dynamo.kv.RankEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Keeps messages of publishers that discovery has not announced yet, for a limited time: events may
 * arrive before the publisher's record. The oldest leave when there are too many. One thread at a
 * time.
 */
final class JoinBuffer {
  /** How long a publisher may stay unknown. */
  static final Duration GRACE = Duration.ofSeconds(30);

  /** Messages held, of all publishers. */
  static final int MESSAGES = 1024;

  private record Message(long publisherId, long receivedNanos, List<RankEvent> events) {}

  private final ArrayDeque<Message> messages = new ArrayDeque<>(); // oldest first
  private final LongSupplier nanoClock;

  JoinBuffer(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Holds a message; how many events had to leave for it or were too old. */
  int add(long publisherId, List<RankEvent> events) {
    int left = expire();
    if (messages.size() == MESSAGES) {
      left += messages.remove().events.size();
    }
    messages.add(new Message(publisherId, nanoClock.getAsLong(), events));
    return left;
  }

  /** How many events have waited too long and are gone now. */
  int expire() {
    int left = 0;
    long now = nanoClock.getAsLong();
    for (var oldest = messages.peek();
        oldest != null && now - oldest.receivedNanos >= GRACE.toNanos();
        oldest = messages.peek()) {
      left += messages.remove().events.size();
    }
    return left;
  }

  /** Takes out what {@code publisherId} has sent, oldest first. */
  List<List<RankEvent>> take(long publisherId) {
    var taken = new ArrayList<List<RankEvent>>();
    messages.removeIf(
        message -> {
          boolean its = message.publisherId == publisherId;
          if (its) {
            taken.add(message.events);
          }
          return its;
        });
    return taken;
  }
}
