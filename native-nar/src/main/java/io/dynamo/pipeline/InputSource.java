package io.dynamo.pipeline;

/**
 * Receives the events of a bidirectional request's input. Called on the connection's event loop:
 * {@code connected}, then {@code written}, later once {@code closed}. It must not block.
 */
public interface InputSource {
  /** Called when the worker has called for the input. */
  void connected(SentInput input);

  /**
   * Called when more items were written to the kernel.
   *
   * @param items number of items since the last such call, without those that were dropped
   */
  void written(int items);

  /** Called when the connection was closed, by either side. */
  void closed();
}
