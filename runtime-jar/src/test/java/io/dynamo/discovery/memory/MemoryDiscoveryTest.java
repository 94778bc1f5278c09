package io.dynamo.discovery.memory;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryContract;
import io.dynamo.discovery.InstanceId;

class MemoryDiscoveryTest extends DiscoveryContract {
  private final MemoryStore store = new MemoryStore();

  @Override
  protected Discovery join(InstanceId id) {
    return new MemoryDiscovery(store, id);
  }
}
