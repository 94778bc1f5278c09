package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/**
 * One data-parallel rank of a worker: the unit that the router chooses, with a KV cache of its own.
 */
public record WorkerRank(InstanceId worker, int rank) {
  @Override
  public String toString() {
    return worker + "/" + rank;
  }
}
