package io.dynamo.worker.engine;

/**
 * The load of one rank at one moment.
 *
 * @param running generations that hold a slot
 * @param waiting generations that wait for one
 * @param heldBlocks KV blocks that running generations use
 * @param cachedBlocks KV blocks that a new prompt could reuse
 * @param totalBlocks KV blocks of the rank
 * @param prefillTokens prompt tokens being prefilled
 * @param promptTokens prompt tokens of all generations so far
 * @param cachedTokens prompt tokens of all generations so far that were found in the cache
 * @param corruptBlocks cached blocks whose checksum did not match when they were to be reused
 */
public record RankLoad(
    int running,
    int waiting,
    int heldBlocks,
    int cachedBlocks,
    int totalBlocks,
    int prefillTokens,
    long promptTokens,
    long cachedTokens,
    long corruptBlocks) {}
