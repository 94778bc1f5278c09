package io.dynamo.router.ingest;

import io.dynamo.kv.RankEvent;

/**
 * The id of the last event that was applied to one rank, and whether all events up to it were
 * applied. Event ids rise by one and are unsigned. For one thread at a time.
 */
final class EventPosition {
  private boolean known;
  private boolean complete;
  private long id; // of the last event applied; meaningless unless known

  /** Whether any event or dump has been applied. */
  boolean isKnown() {
    return known;
  }

  /** Whether the rank's blocks are known without loss. */
  boolean isComplete() {
    return complete;
  }

  /** Returns the id of the event after the last one applied. */
  long next() {
    return id + 1;
  }

  /** Whether {@code event} has been applied already. */
  boolean hasPassed(RankEvent event) {
    return known && Long.compareUnsigned(event.event().id(), id) <= 0;
  }

  /** Whether {@code event} is the next one. */
  boolean isFollowedBy(RankEvent event) {
    return event.event().id() == id + 1;
  }

  /** Whether the event {@code other} has not been applied yet. */
  boolean isBehind(long other) {
    return Long.compareUnsigned(id, other) < 0;
  }

  void moveTo(long last) {
    known = true;
    id = last;
  }

  void setComplete() {
    complete = true;
  }

  void setIncomplete() {
    complete = false;
  }

  void forget() {
    known = false;
    complete = false;
  }
}
