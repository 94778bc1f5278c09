package io.dynamo.event;

import io.dynamo.wire.event.EventEnvelope;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The stored events of an event plane that stores them, and one snapshot per subject of the state
 * that they lead to. All methods but {@link #replay} wait for the store, for a few seconds at most.
 * Safe for concurrent use.
 */
public interface EventHistory {
  /** Receives stored events, one call at a time. */
  interface Listener {
    /**
     * Handles an event. May block: that delays later events and loses none. Events of one publisher
     * come in order and once; of events that the store no longer has, none comes but {@link #gap}.
     */
    void event(StoredPosition position, EventEnvelope event);

    /**
     * Called when all events that the store has have been delivered, for the first time, or again
     * after {@link #cut} or {@link #gap}.
     */
    void caughtUp();

    /**
     * Called when events that were yet to come are gone from the store, as after a purge, beyond
     * the bounds of the stream, or when the store was made anew. State that earlier events have led
     * to may no longer hold. The events that are left follow, and then {@link #caughtUp}, also
     * where it was called before.
     */
    void gap();

    /** Called when the store has been out of reach for some seconds. */
    void cut();
  }

  /**
   * The stored events of a subject.
   *
   * @param life of the store, as in {@link StoredPosition}
   * @param first position of the oldest one; one after {@code last} when there is none
   * @param last position of the newest one ever stored
   * @param count how many there are
   */
  record Span(long life, long first, long last, long count) {
    /** Returns the position before the first event that is left. */
    public StoredPosition start() {
      return new StoredPosition(life, Math.max(0, first - 1));
    }

    /**
     * Whether all events that follow {@code position} are left, so that a state at that position
     * can be brought up to date.
     */
    public boolean continues(StoredPosition position) {
      return position.life() == life && position.number() >= first - 1 && position.number() <= last;
    }
  }

  /**
   * A state that its readers understand.
   *
   * @param position of the last event that it includes
   */
  record Snapshot(StoredPosition position, byte[] content) {}

  /** The largest snapshot that is read or written. */
  int MAX_SNAPSHOT_BYTES = 128 << 20;

  /** Whether events of {@code subject} are stored. */
  boolean stores(EventSubject subject);

  /**
   * Delivers the stored events after {@code position}, and then those that arrive. Where the store
   * was made anew, or has lost its last events, it begins with {@link Listener#gap} and the first
   * event.
   */
  EventPlane.Subscription replay(EventSubject subject, StoredPosition position, Listener listener);

  Span span(EventSubject subject) throws IOException;

  /**
   * Returns the latest snapshot; null when there is none. It may be older than the store, or than
   * the first event that is left: {@link Span#continues} tells. The first call for a subject
   * removes snapshot and stored events when the settings say so.
   *
   * @throws UnreadableSnapshotException when what is stored is no snapshot; asking again does not
   *     help, saving one does
   */
  @Nullable Snapshot snapshot(EventSubject subject) throws IOException;

  /**
   * Replaces the snapshot, unless the stored one includes as many events: of processes that save at
   * once, the one with the latest events stays. A stored one of another life of the store, or
   * beyond its last event, is always replaced; a new one of that kind is never saved.
   *
   * @return whether it was replaced
   */
  boolean save(EventSubject subject, Snapshot snapshot) throws IOException;

  /**
   * Removes stored events up to {@code position}, but none that a subscription has yet to handle,
   * and none of another life of the store.
   *
   * @return how many were removed
   */
  long purge(EventSubject subject, StoredPosition position) throws IOException;

  /** Returns the number of stored events from which a snapshot should take their place. */
  long snapshotThreshold();

  /** Removes all stored events and the snapshot. */
  void reset(EventSubject subject) throws IOException;
}
