package io.dynamo.event;

import io.dynamo.wire.event.EventEnvelope;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The stored events of an event plane that stores them, and one snapshot per subject of the state
 * that they lead to. Positions are given by the store, from 1, in the order in which it received
 * the events. All methods but {@link #replay} wait for the store, for a few seconds at most. Safe
 * for concurrent use.
 */
public interface EventHistory {
  /** Receives stored events, one call at a time. */
  interface Listener {
    /**
     * Handles an event. May block: that delays later events and loses none. Events of one publisher
     * come in order and once; of events that the store no longer has, none comes but {@link #gap}.
     */
    void event(long position, EventEnvelope event);

    /**
     * Called when all events that the store has have been delivered, for the first time, or again
     * after {@link #cut} or {@link #gap}.
     */
    void caughtUp();

    /**
     * Called when events that were yet to come are gone from the store, as after a purge or beyond
     * the bounds of the stream. State that earlier events have led to may no longer hold. The
     * events that are left follow, and then {@link #caughtUp}, also where it was called before.
     */
    void gap();

    /** Called when the store has been out of reach for some seconds. */
    void cut();
  }

  /**
   * The stored events of a subject.
   *
   * @param first position of the oldest one; one after {@code last} when there is none
   * @param last position of the newest one ever stored
   * @param count how many there are
   */
  record Span(long first, long last, long count) {}

  /**
   * A state that its readers understand.
   *
   * @param position of the last event that it includes
   */
  record Snapshot(long position, byte[] content) {}

  /** The largest snapshot that is read or written. */
  int MAX_SNAPSHOT_BYTES = 128 << 20;

  /** Whether events of {@code subject} are stored. */
  boolean stores(EventSubject subject);

  /** Delivers the stored events after {@code position}, and then those that arrive. */
  EventPlane.Subscription replay(EventSubject subject, long position, Listener listener);

  Span span(EventSubject subject) throws IOException;

  /**
   * Returns the latest snapshot; null when there is none. The first call for a subject removes
   * snapshot and stored events when the settings say so.
   *
   * @throws UnreadableSnapshotException when what is stored is no snapshot; asking again does not
   *     help, saving one does
   */
  @Nullable Snapshot snapshot(EventSubject subject) throws IOException;

  /**
   * Replaces the snapshot, unless the stored one includes as many events: of processes that save at
   * once, the one with the latest events stays.
   *
   * @return whether it was replaced
   */
  boolean save(EventSubject subject, Snapshot snapshot) throws IOException;

  /**
   * Removes stored events up to {@code position}, but none that a subscription has yet to handle.
   *
   * @return how many were removed
   */
  long purge(EventSubject subject, long position) throws IOException;

  /** Returns the number of stored events from which a snapshot should take their place. */
  long snapshotThreshold();

  /** Removes all stored events and the snapshot. */
  void reset(EventSubject subject) throws IOException;
}
