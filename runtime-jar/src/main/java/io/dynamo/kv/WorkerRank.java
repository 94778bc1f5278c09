package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/**
 * One data-parallel rank of a worker: what holds a KV cache of its own and is chosen by the router.
 */
public record WorkerRank(InstanceId worker, int rank) {
  @Override
  public String toString() {
    return worker + "/" + rank;
  }
}
