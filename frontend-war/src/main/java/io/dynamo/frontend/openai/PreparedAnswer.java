package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.sse.ClientConnection;
import org.jspecify.annotations.Nullable;

/**
 * A request that is ready for workers, whose answers it writes to its client. For one thread, but
 * for {@link #abort}.
 */
interface PreparedAnswer extends AutoCloseable {
  /**
   * Asks workers and writes the answer; returns when it is written.
   *
   * @return the failure that ended an answer after its status line; null for none
   * @throws DynamoException the failure of a request whose answer was not started
   */
  @Nullable DynamoException run(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException;

  /** Ends the answer with {@code cause}, before or while it runs. Safe from any thread. */
  void abort(DynamoException cause);

  /** The work that the request leaves for after its end; null for none. */
  default @Nullable FollowUpPrefill followUp() {
    return null;
  }

  /** Cancels what has not ended. */
  @Override
  void close();
}
