package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.token.SequenceHash;
import org.jspecify.annotations.Nullable;

/** The place of an event's blocks within their sequence. */
sealed interface Placement {
  /**
   * A known place.
   *
   * @param parent the name for routers of the block before them; null at the start of a sequence
   * @param salt the cache salt of the sequence; null for none
   */
  record Behind(@Nullable SequenceHash parent, @Nullable String salt) implements Placement {}

  /** No place. */
  enum None implements Placement {
    /** The block before them is not known yet. */
    UNKNOWN,
    /** Routers cannot ask for them. */
    LEFT_OUT
  }
}
