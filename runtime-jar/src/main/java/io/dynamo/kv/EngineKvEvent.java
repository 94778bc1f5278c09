package io.dynamo.kv;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A change to an engine's own KV cache, as vLLM and SGLang publish it. Arrays are owned by the
 * records and never changed.
 */
public sealed interface EngineKvEvent {
  /**
   * Blocks were added, each the child of the previous one.
   *
   * @param hashes the engine's own names of the blocks
   * @param parent the block before the first; null at the start of a sequence
   * @param tokens the tokens of all blocks; empty when only the hashes are reported
   * @param medium where the blocks are, {@code GPU} for example; null when the engine does not say
   * @param adapter the LoRA adapter; null for the model itself
   * @param extraKeys what else each block depends on; empty when nothing does
   * @param group the cache that holds them, of engines with several
   */
  record Stored(
      long[] hashes,
      @Nullable Long parent,
      int[] tokens,
      int blockTokens,
      @Nullable String medium,
      @Nullable String adapter,
      List<List<Object>> extraKeys,
      @Nullable Long group)
      implements EngineKvEvent {
    public Stored {
      extraKeys = extraKeys.stream().map(List::copyOf).toList();
    }
  }

  /** Blocks were evicted. */
  record Removed(long[] hashes, @Nullable String medium, @Nullable Long group)
      implements EngineKvEvent {}

  /** All blocks were removed. */
  record Cleared() implements EngineKvEvent {}
}
