package io.dynamo.kv;

import org.jspecify.annotations.Nullable;

/**
 * Queries a rank's publisher for lost events.
 *
 * @param startId the first missing id, unsigned; null for all that the rank holds
 * @param endId the last missing id; checked against the start and otherwise ignored, as in Dynamo
 * @param takesDumpFailed whether the requester supports {@link KvReply.TreeDumpFailed}
 */
public record KvQuery(
    WorkerRank rank, @Nullable Long startId, @Nullable Long endId, boolean takesDumpFailed) {
  /** Returns a query for everything that the rank holds. */
  public static KvQuery ofAll(WorkerRank rank) {
    return new KvQuery(rank, null, null, true);
  }

  /** Returns a query for the events from {@code startId} on. */
  public static KvQuery from(WorkerRank rank, long startId) {
    return new KvQuery(rank, startId, null, true);
  }
}
