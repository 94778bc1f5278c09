package io.dynamo.frontend.openai;

import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.BookedLoads;

/** Loads that a test sets, the same for all. */
final class FakeLoads implements BookedLoads {
  int blocks;
  long prefillTokens;

  @Override
  public int blocks(EndpointId endpoint, WorkerRank rank) {
    return blocks;
  }

  @Override
  public long prefillTokens(EndpointId endpoint, WorkerRank rank) {
    return prefillTokens;
  }
}
