package io.dynamo.discovery.memory;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.store.KeyValueStoreContract;

class MemoryBucketsTest extends KeyValueStoreContract {
  private final MemoryStore store = new MemoryStore();

  @Override
  protected Discovery join(InstanceId id) {
    return new MemoryDiscovery(store, id);
  }
}
