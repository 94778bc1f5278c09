package io.dynamo.event;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits an event queue by the number of events and by the bytes of their payloads. Safe for
 * concurrent use.
 */
public final class EventBudget {
  private final int maxEvents;
  private final long maxBytes;
  private final AtomicInteger events = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();

  public EventBudget(int maxEvents, long maxBytes) {
    this.maxEvents = maxEvents;
    this.maxBytes = maxBytes;
  }

  /**
   * Takes room for an event of {@code size} bytes; returns false when there is none. An empty queue
   * has room for any single event.
   */
  public boolean take(int size) {
    if (events.incrementAndGet() > maxEvents) {
      events.decrementAndGet();
      return false;
    }
    long held = bytes.addAndGet(size);
    if (held > maxBytes && held != size) {
      give(size);
      return false;
    }
    return true;
  }

  /** Gives back the room of an event of {@code size} bytes. */
  public void give(int size) {
    bytes.addAndGet(-size);
    events.decrementAndGet();
  }
}
