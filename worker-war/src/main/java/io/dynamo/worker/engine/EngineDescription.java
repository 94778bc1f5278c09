package io.dynamo.worker.engine;

/**
 * What a started engine tells about itself; goes into the model card.
 *
 * @param contextLength positions of one sequence
 * @param blockTokens tokens per KV block
 * @param totalBlocks KV blocks of one rank
 * @param ranks data-parallel ranks, numbered from 0
 * @param maxRunning generations that one rank runs at once
 */
public record EngineDescription(
    int contextLength, int blockTokens, int totalBlocks, int ranks, int maxRunning) {}
