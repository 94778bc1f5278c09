package io.dynamo.pipeline;

/**
 * Receives the events of a stream that is sent to the requester. All calls come on the connection's
 * event loop: {@code failed}, or {@code connected}, then any others and once {@code closed}. It
 * must not block.
 */
public interface CallHomeListener {
  /** Called when the connection is open and the handshake is written. */
  void connected(SentStream stream);

  /**
   * Called when more items were written to the kernel.
   *
   * @param items number of items since the last such call, without those that were dropped or
   *     failed
   */
  void written(int items);

  /** Called when the requester cannot be reached, or its identity does not match. */
  void failed(Throwable cause);

  /** Called when the requester requests an early finish, or went away. */
  void stop();

  /** Called when the requester requests that the work be abandoned, or its connection failed. */
  void kill();

  /**
   * Called when the requester reads none of the bytes written to it. {@code kill} and {@code
   * closed} follow.
   */
  void stalled();

  /** Called when the connection is closed. */
  void closed();
}
