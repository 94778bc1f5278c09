package io.dynamo.pipeline;

/** The requester's side of a call-home stream that has connected. Safe for concurrent use. */
public interface ReceivedStream {
  /** Sends a signal to the worker. Has no effect after the end. */
  void signal(StreamSignal signal);

  /** Continues reading after {@link StreamListener#item} requested a pause. */
  void resume();

  /** Returns how often bytes were received so far; may lag a moment. */
  int reads();

  /** Returns how many items were received so far; may lag a moment. */
  int items();

  /** Whether reading is paused until {@link #resume}, and received bytes stay unread. */
  boolean isPaused();

  /**
   * Closes the connection once everything queued has been written; the listener is not called
   * again.
   */
  void close();
}
