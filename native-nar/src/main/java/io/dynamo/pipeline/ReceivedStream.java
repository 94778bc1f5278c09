package io.dynamo.pipeline;

/** The requester's hold on a call-home stream that has arrived. Safe for concurrent use. */
public interface ReceivedStream {
  /** Tells the worker. Without effect after the end. */
  void signal(StreamSignal signal);

  /** Reads on after {@link StreamListener#item} asked for a pause. */
  void resume();

  /** How often bytes have come so far; may lag a moment. */
  int reads();

  /** How many items have come so far; may lag a moment. */
  int items();

  /** Whether it waits for {@link #resume} and leaves unread what comes. */
  boolean isPaused();

  /**
   * Closes the connection once everything queued has been written; the listener is not called
   * again.
   */
  void close();
}
