package io.dynamo.pipeline.zmtp;

import org.jspecify.annotations.Nullable;

/**
 * Receives the events of one connection, on its loop: {@link #up} at most once, {@link #ended} once
 * and last.
 */
public interface ZmtpListener {
  /** Called when the handshake is done. */
  void up();

  /**
   * Called for each message; on connections of subscribers only.
   *
   * @param frames the expected frames, as far as they arrived; valid during the call only
   * @param count the number of the message's frames, which may be more
   */
  void message(byte[][] frames, int count);

  /**
   * Called when the connection could not be made, or has ended.
   *
   * @param violation the peer's violation of the protocol; null when the connection was cut,
   *     closed, or never made
   */
  void ended(@Nullable String violation);
}
