package io.dynamo.event;

import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Receives messages that programs publish or push outside the event plane, as bare frames. Delivery
 * is at most once, and messages published before a connection was up do not come again. Safe for
 * concurrent use.
 */
public interface RawStreams extends AutoCloseable {
  /** A followed publisher, or a bound address; it ends when this is closed. Idempotent. */
  interface RawSubscription extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Receives messages on one thread, in order; must not block. May be called a last time while its
   * following is being closed.
   */
  interface Listener {
    /**
     * Handles a message.
     *
     * @throws IOException when the message is malformed, with the reason; it is dropped and counted
     */
    void message(byte[][] frames) throws IOException;

    /**
     * Called when the connection is up, for the first time or again: messages may have been missed.
     */
    void up();

    /**
     * Called once when the connection has been down for a while; not again until it has been up.
     */
    void cut();
  }

  /**
   * Keeps a connection to the publisher at {@code endpoint} until the result is closed.
   *
   * @param what description of the messages, for the log
   * @param endpoint {@code tcp://host:port}; one of another form never delivers anything, which is
   *     logged
   * @param frames frames per message; others are dropped
   * @param dropped counts messages that are dropped
   */
  RawSubscription follow(
      String what, String endpoint, int frames, Metrics.Counter dropped, Listener listener);

  /**
   * Takes the messages that programs push to {@code address}, until the result is closed. The
   * listener is called for all of them, and told nothing of their connections.
   *
   * @param what description of the messages, for the log
   * @param address the address to bind
   * @param frames frames per message; others are dropped
   * @param maxFrameBytes a program that announces more is disconnected
   * @param dropped counts messages that are dropped
   * @throws IllegalStateException when the address cannot be bound
   */
  RawSubscription pull(
      String what,
      InetSocketAddress address,
      int frames,
      int maxFrameBytes,
      Metrics.Counter dropped,
      Listener listener);

  /** Stops following all publishers, and pulling. */
  @Override
  void close();
}
