package io.dynamo.kv;

import io.dynamo.token.SequenceHash;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A change to one rank's KV cache. Ids increase by one per rank, from 1; a gap means lost events,
 * and the rank must be resynchronized.
 */
public sealed interface KvEvent {
  long id();

  /**
   * Blocks were added, each the child of the previous one.
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

  /** All blocks were removed. */
  record Cleared(long id) implements KvEvent {}
}
