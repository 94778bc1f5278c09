package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.token.BlockHashes;

/**
 * A router has placed a request.
 *
 * @param prompt its complete blocks; when read from a message, their contents are unknown
 * @param tokensToPrefill prompt tokens that the rank is believed not to have cached
 */
public record SequenceAdded(
    String requestId, WorkerRank rank, InstanceId teller, BlockHashes prompt, long tokensToPrefill)
    implements SequenceEvent {}
