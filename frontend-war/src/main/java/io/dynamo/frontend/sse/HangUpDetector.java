package io.dynamo.frontend.sse;

import java.time.Duration;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Detects clients that close their connections. {@link #watch}, {@link #await} and {@link #close}
 * are called by one thread, {@link #wake} by any.
 */
public interface HangUpDetector extends AutoCloseable {
  /**
   * A client to be watched for one of its requests.
   *
   * @param id passed to the listener of {@link #await} when the client leaves; above 0
   */
  record WatchedClient(long id, ClientConnection client) {}

  /**
   * Adds clients. {@link #await} reports the id of each once, when it leaves or if it has left
   * already. A later request of a connection replaces the one before.
   */
  void watch(List<WatchedClient> arrived);

  /** Waits until a client leaves, a {@link #wake}, or the time has passed. */
  void await(Duration atMost, LongConsumer left);

  /** Ends the wait under way, or else the next one. */
  void wake();

  @Override
  void close();
}
