package io.dynamo.pipeline.zmtp;

import org.jspecify.annotations.Nullable;

/** Hears of one connection, on its loop: {@link #up} at most once, {@link #ended} once and last. */
public interface ZmtpListener {
  /** Both sides have shaken hands. */
  void up();

  /**
   * A message has arrived; on connections of subscribers only.
   *
   * @param frames those expected, as far as they came; for this call only
   * @param count of the message's frames, which may be more
   */
  void message(byte[][] frames, int count);

  /**
   * There is no connection, or none any more.
   *
   * @param violation what the peer did against the protocol; null when it was cut, closed, or never
   *     made
   */
  void ended(@Nullable String violation);
}
