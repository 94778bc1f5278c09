package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.WorkerRank;

/**
 * Reports the load that the router has booked on each rank; 0 for ranks that it does not know. Safe
 * for concurrent use.
 */
public interface BookedLoads {
  /** Blocks active on {@code rank}. */
  int blocks(EndpointId endpoint, WorkerRank rank);

  /** Prompt tokens booked on {@code rank} whose first output is not out. */
  long prefillTokens(EndpointId endpoint, WorkerRank rank);
}
