package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/** What becomes of a request that was placed on a rank, as routers and workers tell each other. */
public sealed interface SequenceEvent permits SequenceAdded, PrefillCompleted, SequenceFreed {
  /** The topic of what becomes of placed requests. */
  String TOPIC = "active_sequences_events";

  /** Of the request plane. */
  String requestId();

  /** Where it runs. */
  WorkerRank rank();

  /** Who says so: a router by its process, a worker by its own id. */
  InstanceId teller();

  /** Whether the worker itself says so. */
  default boolean isToldByWorker() {
    return teller().equals(rank().worker());
  }
}
