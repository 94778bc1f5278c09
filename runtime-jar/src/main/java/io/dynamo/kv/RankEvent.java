package io.dynamo.kv;

import org.jspecify.annotations.Nullable;

/**
 * An event and the rank whose cache it changes: Dynamo's {@code RouterEvent}.
 *
 * @param sessionId the session that the blocks belong to, null when unknown
 */
public record RankEvent(
    WorkerRank rank,
    StorageTier tier,
    Residency residency,
    KvEvent event,
    @Nullable String sessionId) {
  /**
   * Creates a change to the blocks that the worker itself holds on its device; a clear removes all
   * of its blocks.
   */
  public RankEvent(WorkerRank rank, KvEvent event) {
    this(
        rank,
        StorageTier.DEVICE,
        event instanceof KvEvent.Cleared ? Residency.ALL : Residency.WORKER,
        event,
        null);
  }

  /** Creates a change to the blocks that the worker itself holds in a tier. */
  public static RankEvent of(WorkerRank rank, StorageTier tier, KvEvent event) {
    return event instanceof KvEvent.Cleared
        ? new RankEvent(rank, event)
        : new RankEvent(rank, tier, Residency.WORKER, event, null);
  }
}
