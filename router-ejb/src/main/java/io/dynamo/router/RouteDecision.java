package io.dynamo.router;

import io.dynamo.discovery.Instance;
import io.dynamo.kv.WorkerRank;

/**
 * The worker and rank that a request is sent to. Holds the booked load until it is closed; only the
 * first close has an effect.
 */
public interface RouteDecision extends AutoCloseable {
  Instance instance();

  WorkerRank rank();

  /**
   * Returns the number of leading blocks of the prompt that the rank is believed to have cached.
   */
  int overlapBlocks();

  /**
   * Records that the first token has arrived: the prompt no longer counts as prefill load.
   * Idempotent.
   */
  void prefillDone();

  /**
   * Records that {@code tokens} more tokens have arrived; the first token is counted too. To be
   * called by one thread at a time.
   */
  void generated(int tokens);

  /** Frees the booked load. Idempotent. */
  @Override
  void close();
}
