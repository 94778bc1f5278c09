package io.dynamo.pipeline;

/** The requester's hold on a call-home stream that has arrived. Safe for concurrent use. */
public interface ReceivedStream {
  /** Tells the worker. Without effect after the end. */
  void signal(StreamSignal signal);

  /** Reads on after {@link StreamListener#item} asked for a pause. */
  void resume();

  /** Closes the connection once what was written is out; nothing more is told to the listener. */
  void close();
}
