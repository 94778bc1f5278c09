package io.dynamo.pipeline.http;

/** A request that was sent, whose answer is being received. Safe for concurrent use. */
public interface SentRequest {
  /** Asks for so many more calls of {@link AnswerListener#content}. */
  void ask(int deliveries);

  /**
   * Drops the rest of the answer, of which the listener hears nothing more. The connection is kept
   * for other requests when the end comes within a second, and closed else.
   */
  void leave();

  /**
   * Closes the connection, so that the server stops answering. Without effect once the answer has
   * ended.
   */
  void cancel();
}
