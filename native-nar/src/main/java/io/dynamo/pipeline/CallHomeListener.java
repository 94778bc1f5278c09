package io.dynamo.pipeline;

/**
 * Hears what happens to a stream on its way to the requester. All calls come on the connection's
 * event loop: {@code failed}, or {@code connected}, what may come of it and once {@code closed}. It
 * must not block.
 */
public interface CallHomeListener {
  /** The connection stands and the handshake is written. */
  void connected(SentStream stream);

  /**
   * So many items are with the kernel since the last such call; not those that were dropped or have
   * failed.
   */
  void written(int items);

  /** The requester cannot be reached, or is not who it should be. */
  void failed(Throwable cause);

  /** The requester asks to finish early, or went away. */
  void stop();

  /** The requester asks to abandon the work, or its connection failed. */
  void kill();

  /**
   * The requester takes nothing of what is written to it. {@code kill} and {@code closed} follow.
   */
  void stalled();

  /** The connection is gone. */
  void closed();
}
