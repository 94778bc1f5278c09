package io.dynamo.router.ingest;

import io.dynamo.kv.RankEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Keeps messages of publishers that discovery has not announced yet, for a limited time: events may
 * arrive before the publisher's record. The oldest are dropped when there are too many. For one
 * thread at a time.
 */
final class JoinBuffer {
  /** The longest time that a message is held for an unknown publisher. */
  static final Duration GRACE = Duration.ofSeconds(30);

  /** The greatest number of messages held, of all publishers. */
  static final int MESSAGES = 1024;

  private record Message(long publisherId, long receivedNanos, List<RankEvent> events) {}

  private final ArrayDeque<Message> messages = new ArrayDeque<>(); // oldest first
  private final LongSupplier nanoClock;

  JoinBuffer(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /**
   * Holds a message; returns how many events were dropped, to make room or because of their age.
   */
  int add(long publisherId, List<RankEvent> events) {
    int left = expire();
    if (messages.size() == MESSAGES) {
      left += messages.remove().events.size();
    }
    messages.add(new Message(publisherId, nanoClock.getAsLong(), events));
    return left;
  }

  /** Drops the events that have been held too long; returns how many. */
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

  /** Removes and returns the messages of {@code publisherId}, oldest first. */
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
