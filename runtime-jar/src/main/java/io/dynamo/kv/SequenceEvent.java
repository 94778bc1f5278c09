package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/**
 * A step of a request that was placed on a rank, as routers and workers report it to each other.
 */
public sealed interface SequenceEvent permits SequenceAdded, PrefillCompleted, SequenceFreed {
  /** The topic of what becomes of placed requests. */
  String TOPIC = "active_sequences_events";

  /** Of the request plane. */
  String requestId();

  /** Where it runs. */
  WorkerRank rank();

  /** The process that reports it: a router by its process, a worker by its own id. */
  InstanceId teller();

  /** Whether the worker itself says so. */
  default boolean isToldByWorker() {
    return teller().equals(rank().worker());
  }
}
