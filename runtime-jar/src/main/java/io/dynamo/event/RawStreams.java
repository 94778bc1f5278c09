package io.dynamo.event;

import io.dynamo.metrics.Metrics;
import java.io.IOException;

/**
 * Bare messages of frames that programs publish outside the event plane. Delivery is at most once,
 * and what was published before a connection was up does not come again. Safe for concurrent use.
 */
public interface RawStreams extends AutoCloseable {
  /** Ends when closed. Idempotent. */
  interface Following extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Receives messages on one thread, in order; must not block. May be called a last time while its
   * following is being closed. May be told a last time while its following is being closed.
   */
  interface Listener {
    /**
     * Takes a message.
     *
     * @throws IOException saying what is wrong with it; it is dropped and counted
     */
    void message(byte[][] frames) throws IOException;

    /** The connection is up, for the first time or again: something may have been missed. */
    void up();

    /** Called once when there has been no connection for a while, until there is one again. */
    void cut();
  }

  /**
   * Keeps a connection to the publisher at {@code endpoint} until the result is closed.
   *
   * @param what is heard; for the log
   * @param endpoint {@code tcp://host:port}; of another form it is never heard, which is logged
   * @param frames of each message; others are dropped
   * @param dropped counts messages that are dropped
   */
  Following follow(
      String what, String endpoint, int frames, Metrics.Counter dropped, Listener listener);

  /** Ends all that is followed. */
  @Override
  void close();
}
