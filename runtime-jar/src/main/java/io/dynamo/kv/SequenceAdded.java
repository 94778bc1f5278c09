package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.token.BlockHashes;

/**
 * A router has placed a request on a rank.
 *
 * @param prompt its complete blocks; their contents are unknown when read from a message
 * @param tokensToPrefill prompt tokens that the rank is expected not to have cached
 */
public record SequenceAdded(
    String requestId, WorkerRank rank, InstanceId teller, BlockHashes prompt, long tokensToPrefill)
    implements SequenceEvent {}
