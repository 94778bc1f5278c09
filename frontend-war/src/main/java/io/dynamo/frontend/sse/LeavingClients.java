package io.dynamo.frontend.sse;

import java.time.Duration;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Tells which clients leave. {@link #watch}, {@link #await} and {@link #close} are called by one
 * thread, {@link #wake} by any.
 */
public interface LeavingClients extends AutoCloseable {
  /**
   * A request whose client is to be watched.
   *
   * @param id what is said of it when the client leaves; above 0
   */
  record Arrival(long id, ClientConnection client) {}

  /**
   * From now on {@link #await} says the id of each once, when its client leaves or if it has left
   * already. A later request of a connection takes the place of the one before.
   */
  void watch(List<Arrival> arrived);

  /** Waits until a client leaves, a {@link #wake}, or the time has passed. */
  void await(Duration atMost, LongConsumer left);

  /** Ends the wait under way, or else the next one. */
  void wake();

  @Override
  void close();
}
