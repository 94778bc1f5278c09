package io.dynamo.router.ingest;

import io.dynamo.kv.RankEvent;
import org.jspecify.annotations.Nullable;

/** The actions that a {@link RankCursor} takes on the index and on its source. */
interface CursorEffects {
  /** Applies {@code event} to the index. */
  void apply(RankEvent event);

  /** Removes all blocks of the rank from the index. */
  void reset();

  /**
   * Queries the source; the result arrives through {@link RankCursor#answered} or {@link
   * RankCursor#exhausted}, and an earlier query is dropped.
   *
   * @param startId the first event id to query; null for all blocks
   */
  void ask(@Nullable Long startId);

  /** Drops the pending query. */
  void stopAsking();

  /** Arranges that {@link RankCursor#retry} is called after some time. */
  void retryLater();

  /** Counts the outcome of an event or of a query. */
  void count(CursorIncident what);
}
