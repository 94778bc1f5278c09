package io.dynamo.router.ingest;

import io.dynamo.kv.RankEvent;
import org.jspecify.annotations.Nullable;

/** The actions that a {@link RankCursor} takes on the index and on its source. */
interface CursorEffects {
  /** Changes what the rank holds. */
  void apply(RankEvent event);

  /** Empties the rank. */
  void reset();

  /**
   * Queries the source; the result comes by {@link RankCursor#answered} or {@link
   * RankCursor#exhausted}, and an earlier query is dropped.
   *
   * @param startId from where on; null for everything
   */
  void ask(@Nullable Long startId);

  /** Drops the pending query. */
  void stopAsking();

  /** Arranges that {@link RankCursor#retry} is called after some time. */
  void retryLater();

  /** Counts the fate of an event or of a query. */
  void count(CursorIncident what);
}
