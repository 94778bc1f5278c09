package io.dynamo.kv;

import io.dynamo.token.SequenceHash;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A change to one rank's KV cache. Ids rise by one per rank, from 1; a gap means lost events:
 * resynchronize the rank.
 */
public sealed interface KvEvent {
  long id();

  /**
   * Blocks were added, each the child of the one before.
   *
   * @param parent the block before the first of {@code blocks}, or null when they start a sequence
   */
  record Stored(long id, @Nullable SequenceHash parent, List<StoredBlock> blocks)
      implements KvEvent {
    public Stored {
      blocks = List.copyOf(blocks);
    }
  }

  /** Blocks were evicted. */
  record Removed(long id, List<SequenceHash> blocks) implements KvEvent {
    public Removed {
      blocks = List.copyOf(blocks);
    }
  }

  /** The cache is empty. */
  record Cleared(long id) implements KvEvent {}
}
