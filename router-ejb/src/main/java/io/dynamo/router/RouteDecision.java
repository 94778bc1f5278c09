package io.dynamo.router;

import io.dynamo.discovery.Instance;
import io.dynamo.kv.WorkerRank;

/** Where a request goes. Holds the booked load until it is closed; closing twice frees once. */
public interface RouteDecision extends AutoCloseable {
  Instance instance();

  WorkerRank rank();

  /** Leading blocks of the prompt that the rank is believed to hold. */
  int overlapBlocks();

  /** The first token is there: the prompt no longer counts as work ahead. Idempotent. */
  void prefillDone();

  /** {@code tokens} more are there, the first among them. For one thread at a time. */
  void generated(int tokens);

  /** Frees what was booked. Idempotent. */
  @Override
  void close();
}
