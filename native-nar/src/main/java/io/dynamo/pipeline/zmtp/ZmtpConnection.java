package io.dynamo.pipeline.zmtp;

import java.time.Duration;

/** One connection, made or being made. Safe for concurrent use; each call returns at once. */
public interface ZmtpConnection extends AutoCloseable {
  /** Closes when the peer does, or after {@code patience}: what has arrived is still told. */
  void finish(Duration patience);

  @Override
  void close();
}
