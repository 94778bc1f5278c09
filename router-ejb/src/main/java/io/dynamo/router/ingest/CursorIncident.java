package io.dynamo.router.ingest;

/** The incidents that a {@link RankCursor} counts. */
enum CursorIncident {
  DUPLICATE,
  GAP,
  KEPT,
  NOT_KEPT,
  FENCED_OFF,
  GOT_EVENTS,
  GOT_DUMP,
  IN_STEP,
  SUPERSEDED,
  EXHAUSTED,
  CORRUPT
}
