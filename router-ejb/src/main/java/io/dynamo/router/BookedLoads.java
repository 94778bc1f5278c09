package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.WorkerRank;

/**
 * Reports the load that the router has booked on each rank; 0 for ranks that it does not know. Safe
 * for concurrent use.
 */
public interface BookedLoads {
  /** Returns the number of blocks active on {@code rank}. */
  int blocks(EndpointId endpoint, WorkerRank rank);

  /** Returns the prompt tokens booked on {@code rank} by requests that have no first token yet. */
  long prefillTokens(EndpointId endpoint, WorkerRank rank);
}
