package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/** A request has ended. */
public record SequenceFreed(String requestId, WorkerRank rank, InstanceId teller)
    implements SequenceEvent {}
