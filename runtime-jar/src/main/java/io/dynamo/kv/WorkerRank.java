package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/**
 * One data-parallel rank of a worker: it has a KV cache of its own and is what the router chooses.
 */
public record WorkerRank(InstanceId worker, int rank) {
  @Override
  public String toString() {
    return worker + "/" + rank;
  }
}
