package io.dynamo.pipeline;

/**
 * Hears what becomes of the input of a bidirectional request. Called on the connection's event
 * loop: {@code connected}, later once {@code closed}. It must not block.
 */
public interface InputSource {
  /** The worker called for the input. */
  void connected(SentInput input);

  /** The connection is gone, by either side. */
  void closed();
}
