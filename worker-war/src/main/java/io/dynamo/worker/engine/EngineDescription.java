package io.dynamo.worker.engine;

import org.jspecify.annotations.Nullable;

/**
 * The limits and properties of a started engine, which go into the model card.
 *
 * @param contextLength positions of one sequence
 * @param blockTokens tokens per KV block
 * @param totalBlocks KV blocks of one rank
 * @param ranks data-parallel ranks, numbered from 0
 * @param maxRunning generations that one rank runs at once
 * @param passTokens tokens that one forward pass of a rank computes at most, null when the engine
 *     does not know
 * @param tellsKvEvents whether it tells of changes of its KV caches; if not, routers know nothing
 *     of what is cached there
 */
public record EngineDescription(
    int contextLength,
    int blockTokens,
    int totalBlocks,
    int ranks,
    int maxRunning,
    @Nullable Integer passTokens,
    boolean tellsKvEvents) {
  /** Of an engine that tells of its caches and knows nothing of passes. */
  public EngineDescription(
      int contextLength, int blockTokens, int totalBlocks, int ranks, int maxRunning) {
    this(contextLength, blockTokens, totalBlocks, ranks, maxRunning, null, true);
  }
}
