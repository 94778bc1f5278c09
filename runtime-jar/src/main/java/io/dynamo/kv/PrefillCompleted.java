package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/** The prompt of a request is in the cache: its first token has been generated. */
public record PrefillCompleted(String requestId, WorkerRank rank, InstanceId teller)
    implements SequenceEvent {}
