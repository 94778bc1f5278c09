package io.dynamo.pipeline.zmtp;

import java.time.Duration;

/** One connection, open or being opened. Safe for concurrent use; each call returns at once. */
public interface ZmtpConnection extends AutoCloseable {
  /**
   * Closes when the peer does, or after {@code patience}: messages that have arrived are still
   * delivered.
   */
  void finish(Duration patience);

  @Override
  void close();
}
