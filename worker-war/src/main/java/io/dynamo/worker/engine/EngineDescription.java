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
 * @param tellsKvEvents whether the engine reports changes of its KV caches; if not, routers go by
 *     their own decisions
 */
public record EngineDescription(
    int contextLength,
    int blockTokens,
    int totalBlocks,
    int ranks,
    int maxRunning,
    @Nullable Integer passTokens,
    boolean tellsKvEvents) {
  /** Describes an engine that reports KV events and does not know its tokens per pass. */
  public EngineDescription(
      int contextLength, int blockTokens, int totalBlocks, int ranks, int maxRunning) {
    this(contextLength, blockTokens, totalBlocks, ranks, maxRunning, null, true);
  }
}
