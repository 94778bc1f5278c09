package io.dynamo.pipeline;

/**
 * Hears what becomes of the input of a bidirectional request. Called on the connection's event
 * loop: {@code connected}, then {@code written}, later once {@code closed}. It must not block.
 */
public interface InputSource {
  /** The worker called for the input. */
  void connected(SentInput input);

  /** So many items are with the kernel since the last such call; not those that were dropped. */
  void written(int items);

  /** The connection is gone, by either side. */
  void closed();
}
