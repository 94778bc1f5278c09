package io.dynamo.kv;

import org.jspecify.annotations.Nullable;

/**
 * Asks a rank's publisher for events that were lost.
 *
 * @param startId the first id that is missing, unsigned; null for all that the rank holds
 * @param endId the last one; checked against the start and otherwise without effect, as Dynamo does
 * @param takesDumpFailed whether the asker knows {@link KvReply.TreeDumpFailed}
 */
public record KvQuery(
    WorkerRank rank, @Nullable Long startId, @Nullable Long endId, boolean takesDumpFailed) {
  /** Asks for everything that the rank holds. */
  public static KvQuery ofAll(WorkerRank rank) {
    return new KvQuery(rank, null, null, true);
  }

  /** Asks for what came from {@code startId} on. */
  public static KvQuery from(WorkerRank rank, long startId) {
    return new KvQuery(rank, startId, null, true);
  }
}
