package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/**
 * A step of a request that was placed on a rank, as routers and workers report it to each other.
 */
public sealed interface SequenceEvent permits SequenceAdded, PrefillCompleted, SequenceFreed {
  /** The topic of sequence events. */
  String TOPIC = "active_sequences_events";

  /** Returns the request's id on the request plane. */
  String requestId();

  /** Returns the rank on which it runs. */
  WorkerRank rank();

  /**
   * Returns the process that reports the event: a router by its process, a worker by its own id.
   */
  InstanceId teller();

  /** Whether the worker itself reports the event. */
  default boolean isFromWorker() {
    return teller().equals(rank().worker());
  }
}
